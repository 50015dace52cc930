/** Runs of a sweep as one node of the graph. */
import { TranslationBundle } from '@jupyterlab/translation';
import { Flow, FlowEdge, FlowNode } from '../../api/types';
import { related } from './graph';

/** A graph in which one node stands for the runs of a sweep, and one for the artifacts of equal use. */
export interface IFolded {
  flow: Flow;
  /** The nodes that a node stands for, by its id. */
  members: ReadonlyMap<string, readonly FlowNode[]>;
}

/**
 * Fold the runs of each sweep into one node, and the artifacts that only these runs use or make into another one.
 *
 * Runs of a sweep that use each other's artifacts are not folded: the arrows would form a cycle.
 *
 * @param home - Id of the node of the page, which is not folded.
 */
export function fold(
  flow: Flow,
  home: string,
  trans: TranslationBundle
): IFolded {
  const members = new Map<string, FlowNode[]>();
  const into = new Map<string, string>();
  const add = (id: string, nodes: FlowNode[]): void => {
    if (nodes.length > 1) {
      members.set(id, nodes);
      nodes.forEach(node => into.set(node.id, id));
    }
  };
  const runs = groups(
    flow.nodes.filter(({ id }) => id !== home),
    node => node.sweep?.id ?? null
  );
  for (const [sweep, nodes] of runs) {
    if (areApart(flow, nodes)) {
      add(`sweep:${sweep}`, nodes);
    }
  }
  const artifacts = groups(
    flow.nodes.filter(({ id, kind }) => id !== home && kind === 'artifact'),
    node => useOf(node, flow, into)
  );
  for (const [use, nodes] of artifacts) {
    add(`artifacts:${use}`, nodes);
  }
  const edges = new Map<string, FlowEdge>();
  for (const { source, target, cycle } of flow.edges) {
    const ends = [into.get(source) ?? source, into.get(target) ?? target];
    const key = ends.join(' ');
    const known = edges.get(key);
    edges.set(key, {
      ...{ source: ends[0], target: ends[1] },
      cycle: cycle && (known?.cycle ?? true)
    });
  }
  const shown = new Map<string, FlowNode>();
  for (const node of flow.nodes) {
    const id = into.get(node.id) ?? node.id;
    const nodes = members.get(id);
    if (!shown.has(id)) {
      shown.set(id, nodes ? folded(id, nodes, trans) : node);
    }
  }
  const result = {
    ...flow,
    nodes: [...shown.values()],
    edges: [...edges.values()]
  };
  return members.size && isAcyclic(result)
    ? { flow: result, members }
    : { flow, members: new Map() };
}

function groups(
  nodes: readonly FlowNode[],
  keyOf: (node: FlowNode) => string | null
): Map<string, FlowNode[]> {
  const found = new Map<string, FlowNode[]>();
  for (const node of nodes) {
    const key = keyOf(node);
    if (key !== null) {
      found.set(key, [...(found.get(key) ?? []), node]);
    }
  }
  return found;
}

/** Return true if no node comes from another one of them. */
function areApart(flow: Flow, nodes: readonly FlowNode[]): boolean {
  const ids = new Set(nodes.map(({ id }) => id));
  return nodes.every(
    ({ id }) =>
      ![...related(flow, id).nodes].some(
        other => other !== id && ids.has(other)
      )
  );
}

/** Return the key that the artifacts of one node share: name and folded runs; null if another run uses the artifact. */
function useOf(
  { id, name }: FlowNode,
  { edges }: Flow,
  into: ReadonlyMap<string, string>
): string | null {
  const ends = new Set<string | undefined>();
  for (const { source, target } of edges) {
    if (source === id || target === id) {
      const other = into.get(source === id ? target : source);
      ends.add(other && `${source === id ? 'to' : 'from'} ${other}`);
    }
  }
  return ends.size === 1 && !ends.has(undefined)
    ? `${[...ends].join()} ${name}`
    : null;
}

const URGENCY = ['error', 'stale', 'running', 'unknown', 'complete'] as const;

function folded(
  id: string,
  nodes: readonly FlowNode[],
  trans: TranslationBundle
): FlowNode {
  const [first] = nodes;
  const isRun = first.kind === 'run';
  return {
    ...first,
    id,
    name: first.sweep?.name ?? first.name,
    suffix: '',
    status:
      URGENCY.find(status => nodes.some(node => node.status === status)) ??
      null,
    detail: isRun
      ? trans._n('%1 run', '%1 runs', nodes.length)
      : trans._n('%1 artifact', '%1 artifacts', nodes.length),
    found: nodes.every(({ found }) => found),
    path: null
  };
}

function isAcyclic({ nodes, edges }: Flow): boolean {
  const waiting = new Map(nodes.map(({ id }) => [id, 0]));
  const forward = edges.filter(({ cycle }) => !cycle);
  for (const { target } of forward) {
    waiting.set(target, (waiting.get(target) ?? 0) + 1);
  }
  const ready = [...waiting].filter(([, count]) => count === 0);
  for (const [id] of ready) {
    for (const { source, target } of forward) {
      if (source === id) {
        const left = (waiting.get(target) ?? 0) - 1;
        waiting.set(target, left);
        if (left === 0) {
          ready.push([target, 0]);
        }
      }
    }
  }
  return ready.length === nodes.length;
}
