/** Runs and artifacts as a graph: the part around a node, and the nodes before and after a node. */
import { Flow, FlowEdge, FlowNode } from '../../api/types';

/** Graphs with more nodes start with one step. */
export const MOST_AT_FIRST = 200;
/** Graphs with more nodes are not drawn: the layout would block the page. */
export const MOST_DRAWN = 400;

/** Number of steps from the node of the page; null for all. */
export type Steps = number | null;

/** Ids and edges that belong to a node. */
export interface IRelated {
  nodes: ReadonlySet<string>;
  edges: ReadonlySet<FlowEdge>;
}

/** Return the steps that a graph is shown with at first. */
export function firstSteps(flow: Flow): Steps {
  return flow.nodes.length > MOST_AT_FIRST ? 1 : null;
}

/**
 * Return the part of a graph around a node.
 *
 * @param flow - The graph.
 * @param id - Id of the node. The whole graph is returned if it has no such node.
 * @param steps - Largest distance from the node; null for all.
 */
export function around(flow: Flow, id: string, steps: Steps): Flow {
  if (steps === null || !flow.nodes.some(node => node.id === id)) {
    return flow;
  }
  const neighbours = adjacency(flow, edge => [
    [edge.source, edge.target],
    [edge.target, edge.source]
  ]);
  const distance = new Map([[id, 0]]);
  for (const [node, far] of distance) {
    for (const other of far < steps ? (neighbours.get(node) ?? []) : []) {
      if (!distance.has(other)) {
        distance.set(other, far + 1);
      }
    }
  }
  return {
    ...flow,
    nodes: flow.nodes.filter(node => distance.has(node.id)),
    edges: flow.edges.filter(
      ({ source, target }) => distance.has(source) && distance.has(target)
    )
  };
}

/**
 * Return a graph without its archived artifacts.
 *
 * @param flow - The graph.
 * @param id - Id of the node of the page, which stays.
 */
export function withoutArchived(flow: Flow, id: string): Flow {
  const nodes = flow.nodes.filter(node => !node.archived || node.id === id);
  if (nodes.length === flow.nodes.length) {
    return flow;
  }
  const ids = new Set(nodes.map(node => node.id));
  const edges = flow.edges.filter(
    ({ source, target }) => ids.has(source) && ids.has(target)
  );
  return { ...flow, nodes, edges };
}

/** Return all nodes before and after a node, and the edges between them. */
export function related(flow: Flow, id: string): IRelated {
  const forward = reached(
    id,
    adjacency(flow, ({ source, target }) => [[source, target]])
  );
  const backward = reached(
    id,
    adjacency(flow, ({ source, target }) => [[target, source]])
  );
  return {
    nodes: new Set([...forward, ...backward]),
    edges: new Set(
      flow.edges.filter(
        ({ source, target }) =>
          (forward.has(source) && forward.has(target)) ||
          (backward.has(source) && backward.has(target))
      )
    )
  };
}

/** Return the nodes at the other end of the arrows into a node or out of it, in the order of the graph. */
export function neighboursOf(
  flow: Flow,
  id: string,
  direction: 'in' | 'out'
): FlowNode[] {
  const ids = new Set(
    flow.edges
      .filter(edge => (direction === 'in' ? edge.target : edge.source) === id)
      .map(edge => (direction === 'in' ? edge.source : edge.target))
  );
  return flow.nodes.filter(node => ids.has(node.id));
}

/** Return the nodes whose name has a text in it. */
export function found(flow: Flow, text: string): FlowNode[] {
  const wanted = text.trim().toLowerCase();
  return wanted
    ? flow.nodes.filter(({ name, suffix }) =>
        `${name} ${suffix}`.toLowerCase().includes(wanted)
      )
    : [];
}

function adjacency(
  flow: Flow,
  pairs: (edge: FlowEdge) => [string, string][]
): Map<string, string[]> {
  const result = new Map<string, string[]>();
  for (const [from, to] of flow.edges.flatMap(pairs)) {
    const known = result.get(from);
    if (known) {
      known.push(to);
    } else {
      result.set(from, [to]);
    }
  }
  return result;
}

function reached(id: string, next: Map<string, string[]>): Set<string> {
  const seen = new Set([id]);
  for (const node of seen) {
    next.get(node)?.forEach(other => seen.add(other));
  }
  return seen;
}
