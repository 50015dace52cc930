/** The graph of runs and artifacts as boxes and arrows. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Flow, FlowEdge, FlowNode } from '../../api/types';
import { IRelated } from './graph';
import {
  ILayout,
  IPlacedEdge,
  IPlacedNode,
  nodeAt,
  NODE,
  pathOf
} from './layout';
import { NodeIcon } from './NodeIcon';
import { detailOf, nodeText } from './text';

interface IFlowDrawingProps {
  flow: Flow;
  layout: ILayout;
  /** Id of the run or artifact of the page. */
  home: string;
  /** Id of the node whose details are shown; null if there is none. */
  selected: string | null;
  /** The emphasized nodes and edges. */
  related: IRelated;
  /** Ids of the nodes that a search has found; null if there is no search. */
  matches: ReadonlySet<string> | null;
  /** Returns true if a node stands for several runs or artifacts. */
  isFolded(node: FlowNode): boolean;
  zoom: number;
  select(id: string): void;
  open(node: FlowNode): void;
  trans: TranslationBundle;
}

/**
 * The graph. It is one tab stop: arrow keys move along the lines and in a layer, Enter opens a page, and Space shows
 * the details.
 */
export function FlowDrawing(props: IFlowDrawingProps): React.JSX.Element {
  const { layout, home, selected, zoom, trans } = props;
  const [focused, setFocused] = React.useState(selected ?? home);
  const group = React.useRef<HTMLDivElement>(null);
  const stop = layout.nodes.some(({ node }) => node.id === focused)
    ? focused
    : layout.nodes[0]?.node.id;
  const onKeyDown = (event: React.KeyboardEvent, from: IPlacedNode): void => {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      (event.key === 'Enter' ? props.open : show)(from.node);
      return;
    }
    const to = nodeAt(layout, from, event.key);
    if (to || event.key.startsWith('Arrow')) {
      event.preventDefault(); // the page does not scroll
    }
    if (to) {
      setFocused(to.node.id);
      const index = layout.nodes.indexOf(to);
      const target = group.current?.querySelectorAll('button')[index];
      target?.focus();
      target?.scrollIntoView?.({ block: 'nearest', inline: 'nearest' });
    }
  };
  React.useEffect(() => {
    const index = layout.nodes.findIndex(({ node }) => node.id === home);
    const boxes = group.current?.querySelectorAll('button');
    boxes?.[index]?.scrollIntoView?.({ block: 'nearest', inline: 'nearest' });
    // only at first; the user may have scrolled away when the graph is read again
  }, [home]);
  const show = ({ id }: FlowNode): void => {
    setFocused(id);
    props.select(id);
  };
  const size = { width: layout.width, height: layout.height };
  return (
    <div
      className="jp-t9k-Flow-sheet"
      style={{ width: size.width * zoom, height: size.height * zoom }}
    >
      <div
        ref={group}
        role="group"
        aria-label={trans.__('Runs and artifacts')}
        style={{ ...size, transform: `scale(${zoom})` }}
      >
        <FlowLines {...size} {...props} />
        {layout.nodes.map(placed => (
          <FlowBox
            key={placed.node.id}
            placed={placed}
            isStop={placed.node.id === stop}
            onKeyDown={onKeyDown}
            show={show}
            {...props}
          />
        ))}
      </div>
    </div>
  );
}

/** The arrows; those of the related nodes are drawn last. */
function FlowLines({
  layout,
  related,
  width,
  height,
  trans
}: IFlowDrawingProps & { width: number; height: number }): React.JSX.Element {
  const arrow = React.useId();
  const rank = (edge: FlowEdge): number => (related.edges.has(edge) ? 1 : 0);
  const edges = [...layout.edges].sort(
    (one, other) => rank(one.edge) - rank(other.edge)
  );
  return (
    <svg width={width} height={height} aria-hidden>
      <defs>
        {[0, 1].map(kind => (
          <marker
            key={kind}
            id={`${arrow}${kind}`}
            className="jp-t9k-Flow-arrow"
            data-related={kind === 1}
            viewBox="0 0 8 8"
            refX="8"
            refY="4"
            markerWidth="8"
            markerHeight="8"
            markerUnits="userSpaceOnUse"
            orient="auto"
          >
            <path d="M0,1L8,4L0,7z" />
          </marker>
        ))}
      </defs>
      {edges.map(({ edge, points }) => (
        <g key={`${edge.source} ${edge.target}`} data-cycle={edge.cycle}>
          <path
            className="jp-t9k-Flow-line"
            data-related={related.edges.has(edge)}
            d={pathOf(points)}
            markerEnd={`url(#${arrow}${rank(edge)})`}
          />
          {edge.cycle && <CycleWord points={points} trans={trans} />}
        </g>
      ))}
    </svg>
  );
}

function CycleWord({
  points,
  trans
}: Pick<IPlacedEdge, 'points'> & {
  trans: TranslationBundle;
}): React.JSX.Element {
  const [right, left] = points.slice(2, 4);
  return (
    <text
      className="jp-t9k-Flow-cycle"
      x={(right.x + left.x) / 2}
      y={right.y - 3}
      textAnchor="middle"
    >
      {trans.__('cycle')}
    </text>
  );
}

/** A run or an artifact as a box. */
function FlowBox({
  placed,
  isStop,
  onKeyDown,
  show,
  ...props
}: IFlowDrawingProps & {
  placed: IPlacedNode;
  isStop: boolean;
  onKeyDown(event: React.KeyboardEvent, from: IPlacedNode): void;
  show(node: FlowNode): void;
}): React.JSX.Element {
  const { node, x, y } = placed;
  const { flow, home, selected, related, matches, trans } = props;
  const detail = detailOf(node, trans);
  return (
    <button
      type="button"
      className="jp-t9k-Flow-node"
      data-kind={node.kind}
      data-found={node.found}
      data-folded={props.isFolded(node)}
      data-home={node.id === home}
      data-related={related.nodes.has(node.id)}
      data-pale={matches !== null && !matches.has(node.id)}
      aria-pressed={node.id === selected}
      aria-label={nodeText(node, flow, trans)}
      title={`${node.name}\n${detail}`}
      tabIndex={isStop ? 0 : -1}
      style={{ ...NODE, transform: `translate(${x}px, ${y}px)` }}
      onClick={() => show(node)}
      onDoubleClick={() => props.open(node)}
      onKeyDown={event => onKeyDown(event, placed)}
    >
      <NodeIcon node={node} />
      <span className="jp-t9k-Flow-name">{node.name}</span>
      <span className="jp-t9k-Flow-detail jp-t9k-caption">{detail}</span>
    </button>
  );
}
