/** Jobs, engines and TensorBoards as the server would tell of them. */
import type {
  EngineInfo,
  Job,
  JobDetail,
  JobSpec,
  JobSummary,
  Progress,
  Reason,
  TensorBoard
} from '../../../src/api/types';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Time in whole seconds since the epoch, so that durations are whole numbers. */
export function ago(seconds: number): number {
  return Math.floor(Date.now() / 1000) - seconds;
}

export function fakeReason(code: string, sentence: string): Reason {
  return { code, sentence, hint: null, fix: null, verbatim: null, links: [] };
}

export function fakeProgress(
  text: string,
  fraction: number,
  more: Partial<Progress> = {}
): Progress {
  return {
    text,
    fraction,
    rate: null,
    eta_seconds: null,
    metrics: {},
    updated_at: ago(0),
    ...more
  };
}

/** A job of one replica with two processes on this machine. */
export function fakeJob(
  name: string,
  more: Partial<JobSummary> = {}
): JobSummary {
  const uid = [...name].map(c => c.charCodeAt(0).toString(16)).join('');
  const { devices, ran_seconds = 0 } = more;
  return {
    id: `local::${name}:${uid}`,
    engine: 'local',
    namespace: '',
    name,
    uid,
    display_name: null,
    phase: 'Running',
    state: more.phase ?? 'Running',
    reason: null,
    pending_action: null,
    ended_by: null,
    created_at: ago(5 * MINUTE),
    started_at: ago(5 * MINUTE),
    ended_at: null,
    ran_seconds: 0,
    running_since:
      more.started_at === undefined ? ago(5 * MINUTE) : more.started_at,
    attempt: 1,
    restarts: 0,
    replicas: 1,
    replicas_running: 1,
    nodes: [],
    processes: 2,
    devices: null,
    devices_held: null,
    gpu_hours: devices ? (devices.count * ran_seconds) / HOUR : null,
    queue: null,
    progress: null,
    stalled: null,
    mine: true,
    owner: null,
    read_only: null,
    deleted: false,
    actions: ['stop', 'pause', 'rerun', 'delete'],
    refused: {},
    entrypoint_path: 'mnist_ddp/train.py',
    log_dirs: [],
    request_id: null,
    sweep: null,
    continues: null,
    continuation: null,
    ...more
  };
}

/** A job that has ended. */
export function fakeEnded(
  name: string,
  endedAgo: number,
  more: Partial<JobSummary> = {}
): JobSummary {
  const end = ago(endedAgo);
  return fakeJob(name, {
    phase: 'Succeeded',
    ended_by: 'itself',
    created_at: end - 4 * MINUTE - 14,
    started_at: end - 4 * MINUTE - 12,
    ended_at: end,
    ran_seconds: 4 * MINUTE + 12,
    running_since: null,
    replicas_running: 0,
    actions: ['rerun', 'remove', 'delete'],
    ...more
  });
}

/** A job in each phase that the list knows. */
export function jobsInAllPhases(): JobSummary[] {
  const progress = fakeProgress('Epoch 4 of 10, batch 412 of 938', 0.344, {
    eta_seconds: 271
  });
  return [
    fakeJob('mnist-ddp-10', {
      phase: 'Pending',
      reason: fakeReason(
        'WaitingForDevices',
        'Needs 2 GPUs, 1 is free; 1 job is ahead of it'
      ),
      created_at: ago(6 * MINUTE),
      started_at: null,
      replicas_running: 0
    }),
    fakeJob('mnist-ddp-9', {
      progress,
      log_dirs: ['/home/lin/mnist_ddp/runs/mnist-ddp-9'],
      created_at: ago(7 * MINUTE),
      started_at: ago(7 * MINUTE)
    }),
    fakeJob('resnet50-lr0.4', {
      reason: fakeReason('Started', '8 processes are running'),
      created_at: ago(8 * HOUR),
      started_at: ago(8 * HOUR),
      processes: 8
    }),
    fakeJob('whisper-small', {
      phase: 'Resuming',
      reason: fakeReason('ResumedByUser', '3 of 4 replicas are back'),
      created_at: ago(9 * HOUR),
      started_at: ago(9 * HOUR),
      replicas: 4,
      replicas_running: 3,
      processes: 4
    }),
    fakeJob('bert-mnli', {
      phase: 'Paused',
      reason: fakeReason('PausedByUser', 'Paused by you'),
      created_at: ago(30 * HOUR),
      started_at: ago(30 * HOUR),
      ran_seconds: 2 * HOUR,
      running_since: null,
      replicas_running: 0
    }),
    fakeEnded('mnist-ddp-8', 20 * MINUTE, {
      phase: 'Failed',
      reason: fakeReason(
        'ExitCode',
        "Rank 1 failed: FileNotFoundError: [Errno 2] No such file or directory: 'data/train.npz'"
      )
    }),
    fakeEnded('mnist-ddp-7', HOUR, {
      reason: fakeReason('Succeeded', 'Ran 4 min 12 s · accuracy 0.991'),
      progress: fakeProgress('Epoch 10 of 10', 1, {
        metrics: { accuracy: 0.991 }
      })
    }),
    fakeEnded('sd-lora-cats', 26 * HOUR, {
      phase: 'Failed',
      reason: fakeReason('Stopped', 'Stopped by you after 4 min 12 s'),
      ended_by: 'user',
      state: 'Stopped'
    }),
    fakeEnded('vit-b16', 50 * HOUR, {
      phase: 'Unknown',
      reason: fakeReason('NotHeardOf', 'Not heard of since 10:42'),
      ended_at: null,
      actions: []
    })
  ];
}

/** Specification of a job. */
export function fakeSpec(name: string, log_dirs: string[] = []): JobSpec {
  return {
    name,
    display_name: null,
    labels: {},
    annotations: {},
    entrypoint: { kind: 'script', value: '/home/lin/mnist_ddp/train.py' },
    args: ['--epochs', '10'],
    working_dir: '/home/lin/mnist_ddp',
    env: [],
    runtime: {
      image: null,
      pull_policy: null,
      pull_secrets: [],
      kernel: 'python3',
      training_runtime: null
    },
    replica_specs: [
      {
        type: 'worker',
        replicas: 1,
        restart_policy: 'Never',
        resources: {
          cpu: { request: null, limit: null },
          memory: { request: null, limit: null },
          device: null
        },
        entrypoint: null,
        args: null,
        runtime: null,
        env: null,
        scaling_weight: null
      }
    ],
    torchrun: {
      proc_per_node: 2,
      max_restarts: 0,
      rdzv_backend: 'c10d',
      extra_options: []
    },
    elastic: null,
    run_policy: {
      backoff_limit: 3,
      active_deadline_seconds: null,
      clean_up: 'Unfinished',
      ttl_seconds: null,
      resume_evicted: false
    },
    paused: false,
    debug: null,
    resume: [],
    scheduling: {
      queue: null,
      priority: null,
      priority_class: null,
      node_selector: {},
      tolerations: [],
      scheduler: null
    },
    mounts: [],
    config_files: [],
    shm: null,
    security: { uid: null, gid: null, fs_group: null, restricted: false },
    tensorboard: { log_dirs, cluster: null },
    keep_logs: true,
    diagnostics: { stacks: false, collectives: false },
    source: null,
    extra: {}
  };
}

/** A job in full. */
export function fakeDetail(
  job: JobSummary,
  more: Partial<Job> = {}
): JobDetail {
  return {
    type: 'job',
    revision: 1,
    id: job.id,
    job: {
      ...job,
      spec: fakeSpec(job.name, job.log_dirs),
      command: ['python', '-m', 'torch.distributed.run', 'train.py'],
      working_dir: '/home/lin/mnist_ddp',
      working_dir_path: 'mnist_ddp',
      log_dir_paths: job.log_dirs.map(() => null),
      log_location: null,
      failure: null,
      limited: [],
      request_id: null,
      rerun_of: null,
      imported_manifest: false,
      tensorboard_url: null,
      ...more
    },
    replicas: [],
    events: []
  };
}

/** The local engine on a laptop. */
export function fakeEngine(more: Partial<EngineInfo> = {}): EngineInfo {
  return {
    name: 'local',
    label: 'This machine',
    facts: {
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
      restart_texts: { with_torchrun: {}, without_torchrun: {} },
      description: null
    },
    available: true,
    lacks: [],
    reason: null,
    looking: false,
    namespaces: [],
    default_namespace: '',
    capabilities: {},
    grace_seconds: 10,
    machine: {
      hostname: 'lin-laptop',
      cpus: 8,
      memory_total: 16 * 2 ** 30,
      memory_available: 6.1 * 2 ** 30,
      devices: [],
      devices_problem: null
    },
    cluster: null,
    ...more
  };
}

export function fakeTensorBoard(
  label: string,
  more: Partial<TensorBoard> = {}
): TensorBoard {
  return {
    id: `tb-${label.replace(/\W/g, '-')}`,
    log_dirs: [`/home/lin/${label}`],
    paths: [label],
    label,
    status: 'running',
    since: ago(HOUR),
    reason: null,
    url: 't9kjob/tensorboards/tb/ui/',
    started_at: ago(HOUR),
    last_data_at: ago(20),
    runs: 2,
    points: 160,
    has_data: true,
    job_id: null,
    ...more
  };
}
