/** The data flow of a run or artifact: its origin and its use. */
import { TranslationBundle } from '@jupyterlab/translation';
import { refreshIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { ApiError, expectApiError } from '../../api/errors';
import { Flow, FlowNode } from '../../api/types';
import { formatCount, sentences } from '../../common/format';
import { useAfter, useWidth } from '../../common/hooks';
import { Banner } from '../../ui/Banner';
import { Button, LinkButton } from '../../ui/Buttons';
import { EmptyState } from '../../ui/EmptyState';
import { errorIcon } from '../../ui/icons';
import { ExperimentsClient } from '../client';
import { FlowDetails } from './FlowDetails';
import { FlowDrawing } from './FlowDrawing';
import { FlowTable } from './FlowTable';
import {
  around,
  firstSteps,
  found,
  MOST_DRAWN,
  related,
  Steps,
  withoutArchived
} from './graph';
import { layout } from './layout';
import { FlowToolbar, FlowView } from './FlowToolbar';
import { fold } from './sweeps';
import '../../../style/experiments/flow.css';

/** Narrower panels have the table instead of the graph. */
const NARROW = 760;
const ZOOM = { least: 0.25, most: 2, factor: 1.25 };

/** Properties of the data flow. */
export interface IDataFlowProps {
  /** Id of a run or an artifact. */
  id: string;
  api: ExperimentsClient;
  /** Opens the page of a run or an artifact. */
  open(kind: 'run' | 'artifact', id: string): void;
  trans: TranslationBundle;
}

/** The data flow of a run or artifact as a graph, or as a table where there is little room. */
export function DataFlowPanel(props: IDataFlowProps): React.JSX.Element {
  const { id, api, trans } = props;
  const { flow, error, load } = useFlow(api, id);
  const isLate = useAfter(flow === null && error === null, 300);
  if (flow) {
    return <LoadedFlow key={id} flow={flow} reload={load} {...props} />;
  }
  return (
    <div className="jp-t9k-Flow">
      {error ? (
        <EmptyState
          icon={errorIcon}
          title={trans.__('The data flow could not be read')}
          actions={<Button onClick={load}>{trans.__('Try again')}</Button>}
        >
          <p>{sentences([error.message, error.hint])}</p>
          {error.verbatim && <code>{error.verbatim}</code>}
        </EmptyState>
      ) : (
        <p className="jp-t9k-Flow-wait jp-t9k-secondary" role="status">
          {isLate && trans.__('Reading the data flow…')}
        </p>
      )}
    </div>
  );
}

/** The graph of a run or artifact; null until it is loaded. */
function useFlow(
  api: ExperimentsClient,
  id: string
): { flow: Flow | null; error: ApiError | null; load(): void } {
  const [flow, setFlow] = React.useState<Flow | null>(null);
  const [error, setError] = React.useState<ApiError | null>(null);
  const wanted = React.useRef('');
  const load = React.useCallback(() => {
    wanted.current = id;
    setError(null);
    api.flow(id).then(
      answer => wanted.current === id && setFlow(answer),
      reason => wanted.current === id && setError(expectApiError(reason))
    );
  }, [api, id]);
  React.useEffect(() => {
    setFlow(null);
    load();
    return () => {
      wanted.current = '';
    };
  }, [load]);
  return { flow, error, load };
}

function LoadedFlow({
  id,
  flow: all,
  reload,
  api,
  open,
  trans
}: IDataFlowProps & { flow: Flow; reload(): void }): React.JSX.Element {
  const root = React.useRef<HTMLDivElement>(null);
  const sheet = React.useRef<HTMLDivElement>(null);
  const width = useWidth(root);
  const [hasArchived, setArchived] = React.useState(false);
  const unarchived = React.useMemo(() => withoutArchived(all, id), [all, id]);
  const whole = hasArchived ? all : unarchived;
  const [steps, setSteps] = React.useState<Steps>(() => firstSteps(whole));
  const [view, setView] = React.useState<FlowView>('graph');
  const [search, setSearch] = React.useState('');
  const [selected, setSelected] = React.useState<string | null>(null);
  const [zoom, setZoom] = React.useState(1);

  const [isFolding, setFolding] = React.useState(true);
  const part = React.useMemo(
    () => around(whole, id, steps),
    [whole, id, steps]
  );
  const folded = React.useMemo(() => fold(part, id, trans), [part, id, trans]);
  const flow = isFolding ? folded.flow : part;
  const membersOf = (each: FlowNode): readonly FlowNode[] =>
    (isFolding && folded.members.get(each.id)) || [];
  const isNarrow = width > 0 && width < NARROW;
  const isLarge = flow.nodes.length > MOST_DRAWN;
  const isGraph = view === 'graph' && !isNarrow && !isLarge;
  const placed = React.useMemo(
    () => (isGraph ? layout(flow) : null),
    [flow, isGraph]
  );
  const node = flow.nodes.find(each => each.id === selected);
  const focus = node?.id ?? id;
  const emphasized = React.useMemo(() => related(flow, focus), [flow, focus]);
  const matches = React.useMemo(
    () =>
      search.trim() ? new Set(found(flow, search).map(each => each.id)) : null,
    [flow, search]
  );
  const openNode = (each: FlowNode): void => {
    const { kind, id, found } = each;
    if (membersOf(each).length) {
      setFolding(false);
    } else if (kind !== 'asset' && found) {
      open(kind, id);
    }
  };
  const canOpen = (each: FlowNode): boolean =>
    !membersOf(each).length &&
    each.kind !== 'asset' &&
    each.found &&
    each.id !== id;
  const zoomTo = (value: number): void =>
    setZoom(Math.min(ZOOM.most, Math.max(ZOOM.least, value)));
  const fit = (): void => {
    const area = sheet.current;
    if (placed && area) {
      const { clientWidth, clientHeight } = area;
      zoomTo(
        Math.min(1, clientWidth / placed.width, clientHeight / placed.height)
      );
    }
  };
  return (
    <div className="jp-t9k-Flow" ref={root} data-narrow={isNarrow}>
      <FlowToolbar
        {...{ steps, setSteps, search, setSearch, trans }}
        flow={part}
        home={whole.nodes.find(each => each.id === id)?.name ?? ''}
        folding={
          folded.members.size ? { isOn: isFolding, set: setFolding } : null
        }
        archived={
          unarchived === all ? null : { isOn: hasArchived, set: setArchived }
        }
        view={isNarrow ? null : view}
        setView={setView}
        zoom={
          isGraph
            ? {
                larger: () => zoomTo(zoom * ZOOM.factor),
                smaller: () => zoomTo(zoom / ZOOM.factor),
                fit
              }
            : null
        }
        findFirst={() => {
          const [first] = found(flow, search);
          if (first) {
            setSelected(first.id);
          }
        }}
        refresh={{ icon: refreshIcon, execute: reload }}
      />
      {whole.truncated && (
        <Banner
          level="info"
          title={trans.__(
            'Only the nearest %1 runs and artifacts are shown.',
            formatCount(whole.nodes.length)
          )}
        />
      )}
      {isLarge && view === 'graph' && !isNarrow && (
        <Banner
          level="info"
          title={trans.__(
            'More than %1 runs and artifacts are shown as a table.',
            MOST_DRAWN
          )}
          actions={
            steps !== 1 && (
              <LinkButton onClick={() => setSteps(1)}>
                {trans.__('Show 1 step')}
              </LinkButton>
            )
          }
        />
      )}
      <div className="jp-t9k-Flow-body">
        <div className="jp-t9k-Flow-area" ref={sheet}>
          {flow.edges.length === 0 ? (
            <EmptyState title={trans.__('No data flow')}>
              <p>
                {trans.__(
                  'A run shows here what it uses and makes if its script calls mark_input or mark_output with an artifact.'
                )}
              </p>
            </EmptyState>
          ) : placed ? (
            <FlowDrawing
              {...{ flow, matches, zoom, trans }}
              layout={placed}
              isFolded={each => membersOf(each).length > 0}
              home={id}
              selected={node?.id ?? null}
              related={emphasized}
              select={setSelected}
              open={openNode}
            />
          ) : (
            <FlowTable {...{ flow, matches, trans }} select={setSelected} />
          )}
        </div>
        {node && (
          <FlowDetails
            {...{ flow, node, api, trans }}
            open={canOpen(node) ? () => openNode(node) : null}
            members={membersOf(node)}
            openMember={member => {
              const found = membersOf(node).find(each => each.id === member);
              if (found) {
                openNode(found);
              }
            }}
            select={setSelected}
            close={() => setSelected(null)}
          />
        )}
      </div>
      {placed && flow.edges.length > 0 && (
        <Legend name={(node ?? { name: '' }).name} trans={trans} />
      )}
    </div>
  );
}

/** Legend of the colours and shapes. */
function Legend({
  name,
  trans
}: {
  name: string;
  trans: TranslationBundle;
}): React.JSX.Element {
  return (
    <ul className="jp-t9k-Flow-legend jp-t9k-caption">
      <li data-kind="line">
        {name
          ? trans.__('What %1 comes from and what uses it', name)
          : trans.__('What it comes from and what uses it')}
      </li>
      <li data-kind="run">{trans.__('run')}</li>
      <li data-kind="artifact">{trans.__('artifact')}</li>
    </ul>
  );
}
