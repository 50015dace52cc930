/** Jobs of a cluster as the server would tell of them. */
import type {
  Event,
  Job,
  JobDetail,
  JobSummary,
  Pod,
  Replica
} from '../../../src/api/types';
import { clusterSpec } from './fakeCluster';
import { ago, fakeDetail, fakeEnded, fakeJob, fakeReason } from './fakes';

const IMAGE = 't9kpublic/pytorch-2.6.0:sdk-0.6.0';
const WAITS =
  'worker-2: There is no image “t9kpublic/pytorch-2.6.0:sdk-0.6” at its registry';

/** One's own in two namespaces, and one of somebody else; the first is that of `fakeClusterDetail`. */
export function fakeClusterJobs(): JobSummary[] {
  const inCluster = (
    name: string,
    more: Partial<JobSummary> = {}
  ): Partial<JobSummary> => ({
    id: `t9k:${more.namespace ?? 'demo'}:${name}:u-${name}`,
    uid: `u-${name}`,
    engine: 't9k',
    namespace: 'demo',
    owner: 'lin',
    devices: { name: 'nvidia.com/gpu', count: 12 },
    processes: 12,
    replicas: 3,
    replicas_running: 3,
    ...more
  });
  return [
    fakeJob(
      'gpt2-pretrain',
      inCluster('gpt2-pretrain', {
        replicas_running: 2,
        reason: fakeReason(
          'ImagePull',
          `2 of 3 replicas are running · ${WAITS}, 6 min`
        )
      })
    ),
    fakeEnded(
      'bert-mnli',
      3600,
      inCluster('bert-mnli', {
        namespace: 'team-b',
        phase: 'Failed',
        ended_by: 'user',
        state: 'Stopped',
        reason: fakeReason('Stopped', 'Stopped by you after 38 min'),
        actions: ['resume', 'delete', 'rerun']
      })
    ),
    fakeJob(
      'whisper-zh',
      inCluster('whisper-zh', {
        namespace: 'team-b',
        mine: false,
        owner: 'ann'
      })
    ),
    fakeJob('mnist-ddp-9')
  ];
}

/** One of these in full. */
export function fakeClusterDetail(
  job: JobSummary,
  more: Partial<Job> = {}
): JobDetail {
  if (job.engine === 'local') {
    return fakeDetail(job);
  }
  const spec = clusterSpec();
  const [group] = spec.replica_specs;
  const detail = fakeDetail(job, {
    spec: {
      ...spec,
      name: job.name,
      replica_specs: [{ ...group, replicas: 3 }],
      mounts: [
        {
          claim: 't9k-mnt',
          mount_path: '/t9k/mnt',
          sub_path: 'lin',
          read_only: false,
          volume: null
        },
        {
          claim: 'datasets',
          mount_path: '/data',
          sub_path: null,
          read_only: true,
          volume: null
        }
      ],
      security: { uid: 1000, gid: 100, fs_group: null, restricted: false },
      scheduling: {
        ...spec.scheduling,
        queue: 'default',
        priority: 10,
        node_selector: { 'gpu.model': 'A100' },
        tolerations: [{ key: 'gpu', effect: 'NoSchedule', operator: 'Exists' }]
      }
    },
    working_dir: '/t9k/mnt/llama3_sft',
    working_dir_path: 'llama3_sft',
    tensorboard_url: '/t9k/tensorboards/projects/demo/name/tb/',
    ...more
  });
  return {
    ...detail,
    replicas: [0, 1, 2].map(index => fakeReplica(job, index)),
    events: fakeEvents(job)
  };
}

function fakeReplica(job: JobSummary, index: number): Replica {
  const waits = index === 2;
  const pod: Pod = {
    name: `${job.name}-worker-${index}`,
    uid: `p${index}`,
    created_at: ago(400),
    ip: `10.244.1.${7 + index}`,
    image: waits ? 't9kpublic/pytorch-2.6.0:sdk-0.6' : IMAGE,
    command: [
      'torchrun',
      '--nnodes=3',
      '--nproc_per_node=4',
      '--rdzv_backend=c10d',
      '--rdzv_endpoint=gpt2-pretrain-worker-0:29400',
      '/t9k/mnt/llama3_sft/finetune.py',
      '--learning_rate',
      '2e-5'
    ],
    mounts: [
      {
        path: '/t9k/mnt',
        source: 'PVC t9k-mnt',
        sub_path: 'lin',
        read_only: false
      },
      {
        path: '/data',
        source: 'PVC datasets',
        sub_path: null,
        read_only: true
      },
      { path: '/dev/shm', source: 'memory', sub_path: null, read_only: false }
    ],
    device: { name: 'nvidia.com/gpu', count: 4 }
  };
  return {
    name: `worker-${index}`,
    type: 'worker',
    index,
    status: waits ? 'ImagePullBackOff' : 'Running',
    ready: !waits,
    node: `node-${2 + index}`,
    pid: null,
    ranks: [0, 1, 2, 3].map(rank => 4 * index + rank),
    processes: 4,
    devices: [],
    restarts: index === 1 ? 1 : 0,
    started_at: waits ? null : ago(300),
    ended_at: null,
    exit_code: null,
    attempts: waits
      ? []
      : [
          ...(index === 1
            ? [
                {
                  number: 1,
                  started_at: ago(380),
                  ended_at: ago(320),
                  exit_code: 143,
                  ended: 'Ended because its node failed or is drained',
                  worker_restarts: 0,
                  restart: null
                }
              ]
            : []),
          {
            number: index === 1 ? 2 : 1,
            started_at: ago(300),
            ended_at: null,
            exit_code: null,
            ended: null,
            worker_restarts: 0,
            restart: index === 1 ? 1 : null
          }
        ],
    reason: waits
      ? {
          ...fakeReason(
            'ImagePull',
            'There is no image “t9kpublic/pytorch-2.6.0:sdk-0.6” at its registry, 6 min'
          ),
          hint: 'See whether its name and tag are right.',
          verbatim:
            'rpc error: code = NotFound desc = failed to pull and unpack image: failed to resolve reference "docker.io/t9kpublic/pytorch-2.6.0:sdk-0.6": not found'
        }
      : null,
    pod
  };
}

function fakeEvents(job: JobSummary): Event[] {
  const event = (
    seconds: number,
    reason: string,
    message: string,
    more: Partial<Event> = {}
  ): Event => ({
    time: ago(seconds),
    type: 'Normal',
    reason,
    message,
    replica: 'worker-2',
    object: `Pod ${job.name}-worker-2`,
    count: 1,
    first_time: null,
    ...more
  });
  return [
    event(20, 'Failed', 'Error: ImagePullBackOff', { type: 'Warning' }),
    event(60, 'Pulling', 'Pulling image "t9kpublic/pytorch-2.6.0:sdk-0.6"', {
      count: 4,
      first_time: ago(390)
    }),
    event(300, 'Started', 'Started container pytorch', {
      replica: 'worker-0',
      object: `Pod ${job.name}-worker-0`
    }),
    event(395, 'Scheduled', 'Assigned to node-4'),
    event(400, 'TaskCreated', 'Created 3 tasks', {
      replica: null,
      object: `PyTorchTrainingJob ${job.name}`
    })
  ];
}
