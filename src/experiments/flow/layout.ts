/**
 * Layout of the graph: layers from left to right, and lines that cross no node.
 *
 * dagre gives each node its layer and its height, and each long line a place between the nodes of the layers that
 * it passes. The lines are then led through the gaps between the layers, where each source has one track.
 */
import { Graph, layout as arrange } from '@dagrejs/dagre';
import { Flow, FlowEdge, FlowNode } from '../../api/types';

/** Sizes in px. */
export const NODE = { width: 154, height: 44 };
const ROW_GAP = 12;
const GAP = 46;
const TRACK = 12;
const MARGIN = 24;
/** Lines into one node keep at most this distance. */
const PORT = 12;
/** Larger graphs are arranged by a faster method, which makes longer lines. */
const MANY = 100;

/** A point in px. */
export interface IPoint {
  x: number;
  y: number;
}

/** A node with its place; `x` and `y` are those of the upper left corner. */
export interface IPlacedNode extends IPoint {
  node: FlowNode;
  layer: number;
}

/** A line with its corners. */
export interface IPlacedEdge {
  edge: FlowEdge;
  points: IPoint[];
}

/** A graph with places in px. */
export interface ILayout {
  nodes: IPlacedNode[];
  edges: IPlacedEdge[];
  width: number;
  height: number;
}

/** A line on its way through the layers: its height in each layer from the source's to the target's. */
interface IRoute {
  edge: FlowEdge;
  first: number;
  heights: number[];
}

/** Return the places of all nodes and lines of a graph. */
export function layout({ nodes, edges }: Flow): ILayout {
  if (!nodes.length) {
    return { nodes: [], edges: [], width: 0, height: 0 };
  }
  const forward = edges.filter(({ cycle }) => !cycle);
  const graph = arranged(nodes, forward);
  const centres = [...new Set(nodes.map(({ id }) => graph.node(id).x))].sort(
    (one, other) => one - other
  );
  const layerOf = new Map(
    nodes.map(({ id }) => [id, centres.indexOf(graph.node(id).x)])
  );
  const centreOf = new Map(nodes.map(({ id }) => [id, graph.node(id).y]));
  const routes = forward.map(edge => {
    const { points } = graph.edge(edge.source, edge.target);
    return routeOf(edge, points, { centres, layerOf, centreOf });
  });
  spreadPorts(routes);
  const gaps = gapsOf(routes, edges, layerOf, centres.length);
  const lefts = [MARGIN + gaps[0].width];
  for (const { width } of gaps.slice(1)) {
    lefts.push(lefts[lefts.length - 1] + NODE.width + width);
  }
  const bottom = Math.max(...centreOf.values()) + NODE.height / 2;
  const back = edges
    .filter(({ cycle }) => cycle)
    .map((edge, index) =>
      backLine(edge, bottom + TRACK * (index + 1), {
        ...{ gaps, lefts, layerOf, centreOf }
      })
    );
  return {
    nodes: nodes.map(node => {
      const layer = layerOf.get(node.id) ?? 0;
      const y = (centreOf.get(node.id) ?? 0) - NODE.height / 2;
      return { node, layer, x: lefts[layer], y };
    }),
    edges: [
      ...routes.map(route => ({
        edge: route.edge,
        points: lineOf(route, gaps, lefts)
      })),
      ...back
    ],
    width: lefts[centres.length - 1] + NODE.width + gaps[centres.length].width,
    height: bottom + TRACK * back.length + MARGIN
  };
}

interface IPlaces {
  layerOf: Map<string, number>;
  centreOf: Map<string, number>;
}

type Arranged = Graph<object, { x: number; y: number }, { points: IPoint[] }>;

function arranged(
  nodes: readonly FlowNode[],
  edges: readonly FlowEdge[]
): Arranged {
  const graph = new Graph();
  graph.setGraph({
    rankdir: 'LR',
    nodesep: ROW_GAP,
    edgesep: ROW_GAP,
    ranksep: GAP,
    marginy: MARGIN,
    ranker: nodes.length > MANY ? 'longest-path' : 'network-simplex'
  });
  for (const { id } of nodes) {
    graph.setNode(id, { ...NODE });
  }
  for (const { source, target } of edges) {
    graph.setEdge(source, target, {});
  }
  arrange(graph);
  return graph as Arranged;
}

/** Return the heights of a line in the layers that it passes. */
function routeOf(
  edge: FlowEdge,
  points: readonly IPoint[],
  { centres, layerOf, centreOf }: IPlaces & { centres: readonly number[] }
): IRoute {
  const first = layerOf.get(edge.source) ?? 0;
  const last = layerOf.get(edge.target) ?? 0;
  const heights = [centreOf.get(edge.source) ?? 0];
  for (const centre of centres.slice(first + 1, last)) {
    // dagre bends a long line in the middle of each layer.
    const bend = points.reduce((one, other) =>
      Math.abs(other.x - centre) < Math.abs(one.x - centre) ? other : one
    );
    heights.push(bend.y);
  }
  heights.push(centreOf.get(edge.target) ?? 0);
  return { edge, first, heights };
}

/** Give lines into the same node different heights, in the order in which they arrive. */
function spreadPorts(routes: readonly IRoute[]): void {
  const arriving = new Map<string, IRoute[]>();
  for (const route of routes) {
    const { target } = route.edge;
    arriving.set(target, [...(arriving.get(target) ?? []), route]);
  }
  for (const group of arriving.values()) {
    const before = ({ heights }: IRoute): number => heights[heights.length - 2];
    group.sort((one, other) => before(one) - before(other));
    const room = (NODE.height - PORT) / Math.max(1, group.length - 1);
    const distance = Math.min(PORT, room);
    group.forEach((route, index) => {
      const shift = (index - (group.length - 1) / 2) * distance;
      route.heights[route.heights.length - 1] += shift;
    });
  }
}

/** The tracks in a gap between two layers: the number of each source's track. */
interface IGap {
  tracks: Map<string, number>;
  width: number;
}

/** Return the gaps before, between and after the layers; gap `n` is to the left of layer `n`. */
function gapsOf(
  routes: readonly IRoute[],
  edges: readonly FlowEdge[],
  layerOf: Map<string, number>,
  layers: number
): IGap[] {
  const users = Array.from(
    { length: layers + 1 },
    () => new Map<string, number>()
  );
  for (const { edge, first, heights } of routes) {
    for (let at = 1; at < heights.length; at++) {
      if (heights[at] !== heights[at - 1]) {
        const gap = users[first + at];
        const own = gap.get(edge.source) ?? heights[at - 1];
        gap.set(edge.source, Math.max(own, heights[at - 1]));
      }
    }
  }
  for (const { source, target, cycle } of edges) {
    if (cycle) {
      users[(layerOf.get(source) ?? 0) + 1].set(backTrack(source), Infinity);
      users[layerOf.get(target) ?? 0].set(backTrack(source), -Infinity);
    }
  }
  return users.map((gap, index) => {
    // The lowest source turns first, so that lines that go up do not cross those of the sources above.
    const sources = [...gap].sort(([, one], [, other]) => other - one);
    const width = Math.max(GAP, TRACK * (sources.length + 2));
    const isOuter = index === 0 || index === layers;
    return {
      tracks: new Map(sources.map(([source], track) => [source, track])),
      width: isOuter ? (gap.size ? width : MARGIN) : width
    };
  });
}

function backTrack(source: string): string {
  return `back ${source}`;
}

/** Return the x of a source's track in the gap to the left of a layer. */
function trackX(
  gaps: readonly IGap[],
  lefts: readonly number[],
  layer: number,
  source: string
): number {
  const gap = gaps[layer];
  const left =
    layer === 0 ? lefts[0] - gap.width : lefts[layer - 1] + NODE.width;
  return left + TRACK * ((gap.tracks.get(source) ?? 0) + 1);
}

function lineOf(
  { edge, first, heights }: IRoute,
  gaps: readonly IGap[],
  lefts: readonly number[]
): IPoint[] {
  const points = [{ x: lefts[first] + NODE.width, y: heights[0] }];
  for (let at = 1; at < heights.length; at++) {
    if (heights[at] !== heights[at - 1]) {
      const x = trackX(gaps, lefts, first + at, edge.source);
      points.push({ x, y: heights[at - 1] }, { x, y: heights[at] });
    }
  }
  const last = heights.length - 1;
  points.push({ x: lefts[first + last], y: heights[last] });
  return points;
}

/** Return a line back to an earlier layer, below all nodes. */
function backLine(
  edge: FlowEdge,
  y: number,
  {
    gaps,
    lefts,
    layerOf,
    centreOf
  }: IPlaces & { gaps: IGap[]; lefts: number[] }
): IPlacedEdge {
  const [from, to] = [edge.source, edge.target].map(id => ({
    layer: layerOf.get(id) ?? 0,
    y: centreOf.get(id) ?? 0
  }));
  const track = backTrack(edge.source);
  const right = trackX(gaps, lefts, from.layer + 1, track);
  const left = trackX(gaps, lefts, to.layer, track);
  // Other lines leave and reach the node in the middle.
  const [start, end] = [from.y + NODE.height / 4, to.y + NODE.height / 2 - 4];
  return {
    edge,
    points: [
      { x: lefts[from.layer] + NODE.width, y: start },
      { x: right, y: start },
      { x: right, y },
      { x: left, y },
      { x: left, y: end },
      { x: lefts[to.layer], y: end }
    ]
  };
}

/** Return a line as an SVG path with rounded corners. */
export function pathOf(points: readonly IPoint[], radius = 5): string {
  const commands = [`M${points[0].x},${points[0].y}`];
  for (let at = 1; at < points.length - 1; at++) {
    const [before, corner, after] = points.slice(at - 1, at + 2);
    const [start, end] = [towards(corner, before), towards(corner, after)];
    commands.push(
      `L${start.x},${start.y}Q${corner.x},${corner.y} ${end.x},${end.y}`
    );
  }
  const last = points[points.length - 1];
  return `${commands.join('')}L${last.x},${last.y}`;

  function towards(corner: IPoint, other: IPoint): IPoint {
    const [dx, dy] = [other.x - corner.x, other.y - corner.y];
    const length = Math.hypot(dx, dy);
    const share = length ? Math.min(radius, length / 2) / length : 0;
    return { x: corner.x + dx * share, y: corner.y + dy * share };
  }
}

/** Return the node to which an arrow key leads: along the lines, or up and down in the layer. */
export function nodeAt(
  { nodes, edges }: ILayout,
  from: IPlacedNode,
  key: string
): IPlacedNode | undefined {
  const isBeside = (other: IPlacedNode): boolean => {
    const ids = key === 'ArrowRight' ? [from, other] : [other, from];
    return edges.some(
      ({ edge }) =>
        edge.source === ids[0].node.id && edge.target === ids[1].node.id
    );
  };
  const candidates: Record<string, (other: IPlacedNode) => boolean> = {
    ArrowRight: isBeside,
    ArrowLeft: isBeside,
    ArrowUp: other => other.layer === from.layer && other.y < from.y,
    ArrowDown: other => other.layer === from.layer && other.y > from.y
  };
  const distance = ({ x, y }: IPlacedNode): number =>
    Math.abs(y - from.y) + Math.abs(x - from.x) / 1000;
  return nodes
    .filter(other => other !== from && candidates[key]?.(other))
    .sort((one, other) => distance(one) - distance(other))[0];
}
