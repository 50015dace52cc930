import { EngineInfo } from '../../../../src/api/types';
import {
  capacitySections,
  limitsOf,
  poolsFor,
  quotaOf,
  sharesOf
} from '../../../../src/cluster/model/capacity';
import {
  someAmount,
  someCapacity,
  somePool,
  someQuota
} from '../../capacityFakes';
import { someEngines } from '../../clusterFakes';
import { someJob } from '../../fakes';

describe('what is free of a cluster', () => {
  it('is parted into mine, others’, and what nobody can have', () => {
    const amount = someAmount('nvidia.com/gpu', 32, 20, { free: 4 });
    const shares = { mine: 0.25, others: 0.375, out: 0.25 };
    expect(sharesOf(amount, 8)).toEqual(shares);
    // More is held than there is: devices broke under their jobs.
    const broken = someAmount('nvidia.com/gpu', 8, 10, { free: 0 });
    expect(sharesOf(broken, 2)).toEqual({ mine: 0.25, others: 0.75, out: 0 });
    expect(sharesOf(someAmount('cpu', 0), 1).mine).toBe(0);
  });

  it('is limited by what leaves the least', () => {
    const line = quotaOf(
      [
        someQuota({ quota: 'wide', hard: 64 }),
        someQuota({ quota: 'tight', hard: 28 }),
        someQuota({ quota: 'scoped', hard: 1, used: 1, scoped: true }),
        someQuota({ resource: 'requests.amd.com/gpu', hard: 0 })
      ],
      'nvidia.com/gpu'
    );
    expect(line?.quota).toBe('tight');
    expect(quotaOf([], 'nvidia.com/gpu')).toBeNull();
  });

  it('has limits of what jobs ask for', () => {
    const lines = [
      'pods',
      'limits.cpu',
      'requests.memory',
      'cpu',
      'count/jobs.batch/v1',
      'count/widgets.example.com',
      'gold.storageclass.storage.k8s.io/requests.storage',
      'requests.nvidia.com/gpu'
    ].map(resource => someQuota({ resource }));
    expect(limitsOf(lines).map(([resource]) => resource)).toEqual([
      'nvidia.com/gpu',
      'cpu',
      'memory'
    ]);
    expect(limitsOf([])).toEqual([]);
    const many = ['a/1', 'a/2', 'a/3', 'a/4', 'a/5'].map(name =>
      someQuota({ resource: `requests.${name}` })
    );
    const first = limitsOf(many, ['a/5']).map(([resource]) => resource);
    expect(first).toEqual(['a/5', 'a/1', 'a/2', 'a/3']);
  });

  it('is chosen by resource and label', () => {
    const label = 'nvidia.com/gpu.product';
    const product = 'NVIDIA-A100-SXM4-80GB';
    const unlabelled = somePool({ product: null, product_label: null });
    const pools = [...someCapacity().pools, unlabelled];
    const chosen = (labels: Record<string, string>): (string | null)[] =>
      poolsFor(pools, 'nvidia.com/gpu', labels).map(pool => pool.product);
    expect(chosen({ zone: 'b' })).toHaveLength(3);
    expect(chosen({ [label]: product, zone: 'b' })).toEqual([product]);
    expect(chosen({ [label]: 'NVIDIA-H200' })).toEqual([]);
    expect(poolsFor(pools, 'amd.com/gpu', {})).toEqual([]);
  });

  describe('is shown of', () => {
    const [local, ...clusters] = someEngines();
    const inPod = someEngines(null);
    const capacity = someCapacity();
    const bare = someCapacity({ pools: [] });
    const here = someJob();
    const there = someJob({ engine: 't9k' });
    const device = { devices: [{}] } as unknown as EngineInfo['machine'];
    const withGpu = {
      ...local,
      machine: { ...local.machine, ...device } as EngineInfo['machine']
    };
    it.each([
      ['a machine alone', [local], [], null, ['machine']],
      ['a cluster alone', clusters, [], capacity, ['cluster']],
      ['a lab in a pod', inPod, [], null, ['cluster']],
      ['and the jobs in that', inPod, [here], capacity, ['cluster', 'machine']],
      [
        'and its GPU',
        [withGpu, ...inPod.slice(1)],
        [],
        capacity,
        ['cluster', 'machine']
      ],
      ['a laptop', someEngines(), [], bare, ['machine']],
      [
        'and its jobs elsewhere',
        someEngines(),
        [there],
        bare,
        ['machine', 'cluster']
      ],
      [
        'and its quota of a cluster without rights on nodes',
        someEngines(),
        [],
        someCapacity({ pools: [], nodes: 0, limited: 'No rights.' }),
        ['machine', 'cluster']
      ],
      [
        'and a quota of a namespace that is not shown',
        someEngines(),
        [],
        someCapacity({
          pools: [],
          nodes: 0,
          limited: 'No rights.',
          quotas: [
            { namespace: 'demo', lines: [], limited: null },
            { namespace: 'team-b', lines: [someQuota()], limited: null }
          ]
        }),
        ['machine']
      ],
      [
        'and its jobs in a cluster that is looked for',
        [
          local,
          ...clusters.map(engine => ({
            ...engine,
            ...{ available: false, looking: true, cluster: null }
          }))
        ],
        [there],
        null,
        ['machine', 'cluster']
      ],
      [
        'and its cluster’s GPUs',
        someEngines(),
        [],
        capacity,
        ['machine', 'cluster']
      ],
      [
        'others’ jobs do not count',
        someEngines(),
        [{ ...there, mine: false }],
        bare,
        ['machine']
      ]
    ])('%s', (_, engines, jobs, known, places) => {
      expect(capacitySections(engines, jobs, known)).toEqual(places);
    });
  });
});
