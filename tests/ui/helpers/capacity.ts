/** Capacity of a cluster as the server sends it. */
import type {
  Amount,
  Capacity,
  NodeCapacity,
  NodeList
} from '../../../src/api/types';

const GIB = 2 ** 30;
const A100 = 'NVIDIA-A100-SXM4-80GB';
const H100 = 'NVIDIA-H100-80GB-HBM3';
const LABEL = 'nvidia.com/gpu.product';

function amount(resource: string, total: number, allocated: number): Amount {
  const free = total - allocated;
  return { resource, total, unhealthy: 0, allocated, free };
}

/** A100 and H100, half of which are one's own, and a quota. */
export function fakeCapacity(): Capacity {
  const pool = (
    product: string,
    nodes: number,
    allocated: number,
    mine: number,
    most: number
  ): Capacity['pools'][number] => ({
    resource: 'nvidia.com/gpu',
    product,
    product_label: LABEL,
    nodes,
    amount: amount('nvidia.com/gpu', 8 * nodes, allocated),
    most_on_a_node: most,
    largest_node: 8,
    most_beside: { cpu: 48, memory: 400 * GIB },
    mine
  });
  return {
    time: Date.now() / 1000,
    server: 'kube.example',
    nodes: 6,
    amounts: [
      amount('cpu', 384, 128),
      amount('memory', 3072 * GIB, 1024 * GIB)
    ],
    most_on_a_node: { cpu: 62, memory: 500 * GIB },
    pools: [pool(A100, 4, 26, 16, 2), pool(H100, 2, 8, 8, 8)],
    mine: { 'nvidia.com/gpu': 24 },
    quotas: [
      {
        namespace: 'demo',
        lines: [
          {
            quota: 'gpus',
            resource: 'requests.nvidia.com/gpu',
            used: 24,
            hard: 32,
            scoped: false
          }
        ],
        limited: null
      }
    ],
    counting: false,
    limited: null
  };
}

/** So many nodes; some take no pods, or not all. */
export function fakeNodes(count: number): NodeList {
  return {
    time: Date.now() / 1000,
    nodes: Array.from({ length: count }, (_, index) => fakeNode(index)),
    counting: false,
    limited: null
  };
}

function fakeNode(index: number): NodeCapacity {
  const held = (index * 3) % 9;
  const hasDevices = index % 7 !== 5;
  const ready = index % 50 !== 7;
  const cordoned = index % 40 === 9;
  const amounts = [
    amount('cpu', 64, 4 * held),
    amount('memory', 512 * GIB, 32 * held * GIB),
    ...(hasDevices ? [amount('nvidia.com/gpu', 8, Math.min(8, held))] : [])
  ];
  return {
    name: `node-${index + 1}`,
    address: `10.0.${index >> 8}.${index % 256}`,
    roles: [],
    ready,
    cordoned,
    taints:
      index % 10 === 3
        ? [{ key: 'team', value: 'vision', effect: 'NoSchedule' }]
        : [],
    product: hasDevices ? (index % 3 === 2 ? H100 : A100) : null,
    product_label: hasDevices ? LABEL : null,
    pods: held + 4,
    // Nothing is free where no pods are taken.
    amounts: amounts.map(each =>
      ready && !cordoned ? each : { ...each, free: 0 }
    ),
    mine: hasDevices ? { 'nvidia.com/gpu': Math.floor(held / 3) } : {}
  };
}
