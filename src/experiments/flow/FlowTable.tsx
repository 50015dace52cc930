/** The graph of runs and artifacts as a table, for narrow pages and screen readers. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Flow, FlowNode } from '../../api/types';
import { LinkButton } from '../../ui/Buttons';
import { neighboursOf } from './graph';
import { NodeIcon } from './NodeIcon';
import { detailOf } from './text';

interface IFlowTableProps {
  flow: Flow;
  /** Ids of the nodes that a search has found; null if there is no search. */
  matches: ReadonlySet<string> | null;
  select(id: string): void;
  trans: TranslationBundle;
}

/** One row for each run: what it used, the run, and what it made. */
export function FlowTable({
  flow,
  matches,
  select,
  trans
}: IFlowTableProps): React.JSX.Element {
  const rows = flow.nodes
    .filter(({ kind }) => kind === 'run')
    .map(run => ({
      run,
      from: neighboursOf(flow, run.id, 'in'),
      to: neighboursOf(flow, run.id, 'out')
    }))
    .filter(
      ({ run, from, to }) =>
        !matches || [run, ...from, ...to].some(({ id }) => matches.has(id))
    );
  return (
    <div className="jp-t9k-Flow-table">
      <table
        className="jp-t9k-Table"
        aria-label={trans.__('Runs and artifacts')}
      >
        <thead>
          <tr>
            <th>{trans.__('From')}</th>
            <th>{trans.__('Run')}</th>
            <th>{trans.__('To')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ run, from, to }) => (
            <tr key={run.id}>
              {[from, [run], to].map((nodes, column) => (
                <td key={column}>
                  <NodeList nodes={nodes} select={select} trans={trans} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Runs and artifacts one below the other. */
export function NodeList({
  nodes,
  select,
  isLink = () => true,
  trans
}: {
  nodes: readonly FlowNode[];
  select(id: string): void;
  /** Returns false if `select` does nothing for a node. */
  isLink?(node: FlowNode): boolean;
  trans: TranslationBundle;
}): React.JSX.Element {
  return (
    <ul className="jp-t9k-Flow-list">
      {nodes.map(node => (
        <li key={node.id}>
          <NodeIcon node={node} />
          {isLink(node) ? (
            <LinkButton title={node.name} onClick={() => select(node.id)}>
              {node.name}
            </LinkButton>
          ) : (
            <span title={node.name}>{node.name}</span>
          )}
          <span className="jp-t9k-caption">{detailOf(node, trans)}</span>
        </li>
      ))}
    </ul>
  );
}
