/** Graphs for tests. */
import { Flow, FlowNode } from '../../../../src/api/types';

class NoResizeObserver {
  observe(): void {
    return undefined;
  }
  disconnect(): void {
    return undefined;
  }
}

// jsdom has no ResizeObserver.
window.ResizeObserver ??= NoResizeObserver as unknown as typeof ResizeObserver;

/** Return a graph of edges such as “data run:train”; “!” marks a cycle. */
export function flowOf(...edges: string[]): Flow {
  const pairs = edges.map(edge => edge.replace('!', '').split(' '));
  const ids = [...new Set(pairs.flat())];
  return {
    nodes: ids.map(nodeOf),
    edges: pairs.map(([source, target], index) => ({
      ...{ source, target, cycle: edges[index].endsWith('!') }
    })),
    truncated: false
  };
}

/** Return a node; “run:” before its name makes it a run. */
export function nodeOf(id: string): FlowNode {
  const isRun = id.startsWith('run:');
  return {
    id,
    kind: isRun ? 'run' : 'artifact',
    name: id.replace('run:', ''),
    suffix: 'abc123',
    status: isRun ? 'complete' : null,
    detail: isRun ? 'Complete' : null,
    found: true,
    path: id,
    place: null,
    sweep: null,
    files: null,
    size: null,
    archived: false
  };
}
