import { Flow } from '../../../../src/api/types';
import {
  around,
  firstSteps,
  found,
  neighboursOf,
  related
} from '../../../../src/experiments/flow/graph';
import {
  ILayout,
  layout,
  NODE,
  nodeAt,
  pathOf
} from '../../../../src/experiments/flow/layout';
import { flowOf } from './flowFakes';

/** Expect that no nodes overlap, and that lines are straight and pass no node. */
function expectClear({ nodes, edges, width, height }: ILayout): void {
  const faults: unknown[] = nodes.filter(
    ({ x, y }) => x + NODE.width > width || y + NODE.height > height
  );
  for (const one of nodes) {
    faults.push(
      ...nodes.filter(
        other =>
          one !== other &&
          Math.abs(one.x - other.x) < NODE.width &&
          Math.abs(one.y - other.y) < NODE.height
      )
    );
  }
  for (const { edge, points } of edges) {
    for (const [at, end] of points.slice(1).entries()) {
      const start = points[at];
      const hit = nodes.filter(
        ({ x, y }) =>
          Math.max(start.x, end.x) > x + 0.5 &&
          Math.min(start.x, end.x) < x + NODE.width - 0.5 &&
          Math.max(start.y, end.y) > y + 0.5 &&
          Math.min(start.y, end.y) < y + NODE.height - 0.5
      );
      if (hit.length || (start.x !== end.x && start.y !== end.y)) {
        faults.push([edge, start, end, hit]);
      }
    }
  }
  expect(faults).toEqual([]);
}

describe('layout', () => {
  it('puts layers from left to right, and leads lines around nodes', () => {
    const flow = flowOf(
      ...['data train', 'base train', 'train model', 'model test'],
      ...['data test', 'test report', 'data other', 'base report']
    );
    const placed = layout(flow);
    expectClear(placed);
    const x = new Map(placed.nodes.map(({ node, x }) => [node.id, x]));
    for (const { source, target } of flow.edges) {
      expect(x.get(source)).toBeLessThan(x.get(target) ?? 0);
    }
  });

  it('draws random graphs without overlaps', () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 48271) % 2147483647;
      return seed % below;
    };
    for (let round = 0; round < 12; round++) {
      const size = 4 + random(28);
      const edges = Array.from({ length: size * 2 }, () => {
        const source = random(size - 1);
        return `n${source} n${source + 1 + random(size - source - 1)}`;
      });
      expectClear(layout(flowOf(...new Set(edges), 'n1 n0!')));
    }
  });

  it('leads a cycle back below the nodes', () => {
    const placed = layout(flowOf('a b', 'b c', 'c a!'));
    expectClear(placed);
    const lowest = Math.max(...placed.nodes.map(({ y }) => y)) + NODE.height;
    const back = placed.edges[2];
    expect(Math.max(...back.points.map(({ y }) => y))).toBeGreaterThan(lowest);
  });

  it('lays out nothing, one node, and a loop', () => {
    expect(layout(flowOf()).nodes).toEqual([]);
    expectClear(layout({ ...flowOf('a b'), edges: [] }));
    expectClear(layout(flowOf('a a!')));
  });

  it('lays out as many nodes as are drawn in a short time', () => {
    const edges = Array.from({ length: 399 }, (_, at) => `data run${at}`);
    const begin = performance.now();
    expect(layout(flowOf(...edges)).nodes).toHaveLength(400);
    expect(performance.now() - begin).toBeLessThan(5000);
  });

  it('moves along the lines and in a layer', () => {
    const placed = layout(flowOf('data one', 'data two', 'one end'));
    const at = (id: string) =>
      placed.nodes.find(({ node }) => node.id === id) ?? placed.nodes[0];
    const to = (id: string, key: string): string | undefined =>
      nodeAt(placed, at(id), key)?.node.id;
    expect(to('one', 'ArrowRight')).toBe('end');
    expect(to('end', 'ArrowLeft')).toBe('one');
    expect(to('end', 'ArrowRight')).toBeUndefined();
    expect([to('one', 'ArrowUp'), to('one', 'ArrowDown')]).toContain('two');
    expect(to('one', 'Enter')).toBeUndefined();
  });

  it('rounds the corners of a line', () => {
    const points = [
      { x: 0, y: 0 },
      { x: 10, y: 0 },
      { x: 10, y: 20 }
    ];
    expect(pathOf(points)).toBe('M0,0L5,0Q10,0 10,5L10,20');
  });
});

describe('graph', () => {
  const flow = flowOf('data train', 'train model', 'model test', 'data other');
  const ids = ({ nodes }: Flow): string => nodes.map(({ id }) => id).join(' ');

  it('is cut to some steps around a node', () => {
    expect(ids(around(flow, 'train', 1))).toBe('data train model');
    expect(ids(around(flow, 'train', 2))).toBe('data train model test other');
    expect(around(flow, 'train', 1).edges).toHaveLength(2);
    expect(around(flow, 'train', null)).toBe(flow);
    expect(around(flow, 'gone', 1)).toBe(flow);
  });

  it('tells what a node comes from and leads to', () => {
    const { nodes, edges } = related(flow, 'model');
    expect([...nodes].sort()).toEqual(['data', 'model', 'test', 'train']);
    expect(edges.size).toBe(3);
    const cycle = flowOf('a b', 'b a!');
    expect(related(cycle, 'a').edges.size).toBe(2);
    const [one] = neighboursOf(flow, 'model', 'in');
    expect(one.id).toBe('train');
    expect(neighboursOf(flow, 'data', 'out')).toHaveLength(2);
  });

  it('starts with one step if it is large', () => {
    expect(firstSteps(flow)).toBeNull();
    const many = Array.from({ length: 250 }, (_, at) => `data run${at}`);
    expect(firstSteps(flowOf(...many))).toBe(1);
  });

  it('finds nodes by name and suffix', () => {
    expect(found(flow, ' TR ').map(({ id }) => id)).toEqual(['train']);
    expect(found(flow, 'abc123')).toHaveLength(5);
    expect(found(flow, ' ')).toEqual([]);
  });
});
