/** Jobs in full, for the views of one job. */
import {
  ClusterInfo,
  EngineInfo,
  Failure,
  Job,
  Pod,
  Reason,
  Replica
} from '../../src/api/types';
import { someJob } from './fakes';
import { someSpec } from './launchFakes';

/** A running local job in full. */
export function fullJob(changes: Partial<Job> = {}): Job {
  const summary = someJob();
  return {
    ...summary,
    state: changes.phase ?? summary.state,
    reason: {
      code: 'Started',
      sentence: 'The replica is running',
      hint: null,
      fix: null,
      verbatim: null,
      links: []
    },
    spec: someSpec({
      name: summary.name,
      entrypoint: { kind: 'script', value: '/w/mnist_ddp/train.py' },
      args: ['--lr', '0.01', '--log_dir', '/w/mnist_ddp/runs'],
      working_dir: '/w/mnist_ddp'
    }),
    command: ['python', '-m', 'torch.distributed.run', 'my train.py'],
    working_dir: '/w/mnist_ddp',
    working_dir_path: 'mnist_ddp',
    log_dir_paths: [],
    log_location: null,
    failure: null,
    limited: [],
    tensorboard_url: null,
    rerun_of: null,
    imported_manifest: false,
    ...changes
  };
}

/** What became of rank 1. */
export function someFailure(changes: Partial<Failure> = {}): Failure {
  const frame = { path: null, line: 1, function: 'f', code: 'f()' };
  return {
    replica: 'worker-0',
    attempt: 1,
    rank: 1,
    local_rank: 1,
    exit_code: 1,
    signaled: false,
    ended: 'Error (1)',
    error: 'ValueError: boom',
    note: null,
    last_output: null,
    frames: [
      {
        ...frame,
        file: '/w/mnist_ddp/train.py',
        path: 'mnist_ddp/train.py',
        line: 96,
        function: 'main',
        library: false
      },
      { ...frame, file: '/x/site-packages/torch/nn/a.py', library: true },
      { ...frame, file: '/x/site-packages/torch/nn/b.py', library: true }
    ],
    time: 2000,
    link: {
      kind: 'log',
      label: 'Show in log',
      stream: 'worker-0.1.rank-1.err',
      offset: 42,
      path: null,
      line: null,
      cell: null,
      field: null,
      url: null
    },
    ...changes
  };
}

/** A job whose rank 1 failed. */
export function failedJob(changes: Partial<Job> = {}): Job {
  return fullJob({
    phase: 'Failed',
    ended_by: 'itself',
    ended_at: 1042,
    ran_seconds: 41,
    running_since: null,
    actions: ['rerun', 'delete', 'remove'],
    reason: {
      code: 'ExitCode',
      sentence: 'Rank 1 failed: ValueError: boom',
      hint: null,
      fix: null,
      verbatim: 'ValueError: boom',
      links: []
    },
    failure: someFailure(),
    ...changes
  });
}

/** A replica that runs. */
export function someReplica(changes: Partial<Replica> = {}): Replica {
  const index = changes.index ?? 0;
  return {
    name: `worker-${index}`,
    type: 'worker',
    index,
    status: 'Running',
    ready: true,
    node: 'here',
    pid: 100 + index,
    ranks: [2 * index, 2 * index + 1],
    processes: 2,
    devices: [],
    restarts: 0,
    started_at: 1001,
    ended_at: null,
    exit_code: null,
    reason: null,
    pod: null,
    attempts: [
      {
        number: 1,
        started_at: 1001,
        ended_at: null,
        exit_code: null,
        ended: null,
        worker_restarts: 0,
        restart: null
      }
    ],
    ...changes
  };
}

export function someReason(code: string, sentence: string): Reason {
  return { code, sentence, hint: null, fix: null, verbatim: null, links: [] };
}

/** What the cluster has made of a replica. */
export function somePod(changes: Partial<Pod> = {}): Pod {
  return {
    name: 'train-worker-0',
    uid: 'p0',
    created_at: 1000,
    ip: '10.244.1.7',
    image: 'test.local/torch:cpu',
    command: ['torchrun', '--nproc_per_node=2', 'my train.py'],
    mounts: [],
    device: { name: 'nvidia.com/gpu', count: 2 },
    ...changes
  };
}

/** Facts of this machine, of T9k and of Kubeflow. */
export const SOME_FACTS: Record<
  'local' | 't9k' | 'kubeflow',
  EngineInfo['facts']
> = (() => {
  const texts = (sentence: string) => {
    const policies = {
      Never: 'A replica that fails is not restarted.',
      OnFailure: sentence,
      ExitCode: 'Codes of 128 and more restart a replica.'
    };
    return { with_torchrun: policies, without_torchrun: policies };
  };
  const cluster = {
    shares_lab_filesystem: false,
    runs_on_lab_machine: false,
    runs_in_kernel: false,
    outlives_server: true,
    creates_jobs: true,
    queues_sweeps: false,
    has_namespaces: true,
    has_pods: true
  };
  return {
    local: {
      shares_lab_filesystem: true,
      runs_on_lab_machine: true,
      runs_in_kernel: true,
      outlives_server: true,
      creates_jobs: true,
      queues_sweeps: true,
      has_namespaces: false,
      has_pods: false,
      manifest_kind: null,
      manifest_object: null,
      restart_texts: texts('All nodes start again together.'),
      description: 'Runs as processes of this machine.'
    },
    t9k: {
      ...cluster,
      manifest_kind: 't9k',
      manifest_object: 'PyTorchTrainingJob',
      restart_texts: texts('Counted over all replicas together.'),
      description: 'Trains as a PyTorchTrainingJob.'
    },
    kubeflow: {
      ...cluster,
      manifest_kind: 'kubeflow',
      manifest_object: 'PyTorchJob',
      restart_texts: texts('Only the replica that failed starts again.'),
      description: 'Trains as a PyTorchJob.'
    }
  };
})();

/** T9k in a cluster. */
export function someCluster(changes: Partial<ClusterInfo> = {}): EngineInfo {
  return {
    name: 't9k',
    label: 'T9k',
    facts: SOME_FACTS.t9k,
    available: true,
    lacks: [],
    reason: null,
    looking: false,
    namespaces: ['demo'],
    default_namespace: 'demo',
    capabilities: {},
    grace_seconds: null,
    machine: null,
    cluster: {
      server: 'kube.example',
      context: null,
      version: 'v1.34.1',
      found: 'PyTorchTrainingJob of batch.tensorstack.dev/v1beta1',
      rights: {},
      stale_since: null,
      stale_code: null,
      stale_reason: null,
      stale_hint: null,
      stale_verbatim: null,
      image: null,
      images: [],
      ...changes
    }
  };
}
