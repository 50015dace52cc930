/** A launch form as the server fills it. */
import { StateDB } from '@jupyterlab/statedb';
import { ApiClient } from '../../src/api/client';
import {
  AppliedPreset,
  JobSpec,
  LaunchPreview,
  Prefill,
  PresetList,
  ScriptOption
} from '../../src/api/types';
import { LaunchModel } from '../../src/launch/model/launch';
import { ILaunchOptions } from '../../src/launch/model/options';
import { LaunchStore } from '../../src/launch/model/store';
import { loadTranslation } from '../../src/common/translation';
import { SOME_FACTS } from './fakeJob';
import { FakeServer, IFakeRequest, json } from './fakes';

/** An option that takes a text; its default is `x`. */
export function option(
  flag: string,
  changes: Partial<ScriptOption> = {}
): ScriptOption {
  return {
    flags: flag.startsWith('-') ? [flag] : [],
    dest: flag.replace(/^-+/, ''),
    kind: 'text',
    default: 'x',
    choices: [],
    help: null,
    required: false,
    repeatable: false,
    flag_value: true,
    off_flag: null,
    roles: flag === '--log_dir' ? ['events'] : [],
    item_kind: 'text',
    items: null,
    default_expression: null,
    metavar: null,
    value_optional: false,
    syntax: 'separate',
    group: null,
    exclusive: null,
    command: null,
    is_command: false,
    condition: null,
    caution: null,
    library: null,
    path: null,
    line: 1,
    ...changes
  };
}

export const OPTIONS: ScriptOption[] = [
  option('--backend', {
    kind: 'choice',
    default: 'gloo',
    choices: ['gloo', 'nccl']
  }),
  option('--epochs', { kind: 'int', default: '5', help: 'passes' }),
  option('--lr', { kind: 'float', default: '0.01' }),
  option('--log_dir', { default: 'runs' }),
  option('--save_path', { default: 'model.pt' }),
  option('--no_cuda', { kind: 'flag', default: 'False' })
];

/** A job of /w/mnist/train.py. */
export function someSpec(changes: Partial<JobSpec> = {}): JobSpec {
  const name = changes.name ?? 'train-1';
  return {
    name,
    display_name: null,
    labels: {},
    annotations: {},
    entrypoint: { kind: 'script', value: '/w/mnist/train.py' },
    args: ['--log_dir', `runs/${name}`, '--save_path', `runs/${name}/model.pt`],
    working_dir: '/w/mnist',
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
    shm: { size_limit: null, volume: null },
    security: { uid: null, gid: null, fs_group: null, restricted: false },
    tensorboard: { log_dirs: [`/w/mnist/runs/${name}`], cluster: null },
    keep_logs: true,
    diagnostics: { stacks: false, collectives: false },
    source: null,
    extra: {},
    ...changes
  };
}

/** What the server fills in for mnist/train.py. */
export function somePrefill(changes: Partial<Prefill> = {}): Prefill {
  return {
    path: 'mnist/train.py',
    engine: 'local',
    namespace: '',
    spec: someSpec(),
    script: {
      description: null,
      options: OPTIONS,
      imports: [],
      env_reads: [{ name: 'OMP_NUM_THREADS', line: 3, default: null }],
      distributed: true,
      method: 'ddp',
      method_line: 40,
      own_processes: false,
      resume_option: null,
      writes_events: true
    },
    notebook: null,
    launched_by: null,
    kernels: [
      {
        name: 'python3',
        display_name: 'Python 3',
        python: '/opt/python',
        python_version: '3.12.1',
        enabled: true,
        reason: null,
        torch: { version: '2.6.0+cpu', devices: 0 }
      },
      {
        name: 'ir',
        display_name: 'R',
        python: null,
        python_version: null,
        enabled: false,
        reason: 'It is not a Python.',
        torch: null
      }
    ],
    engines: [
      {
        name: 'local',
        label: 'This machine',
        facts: SOME_FACTS.local,
        available: true,
        lacks: [],
        reason: null,
        looking: false,
        namespaces: [''],
        default_namespace: '',
        capabilities: {
          restart_always: { supported: false, reason: 'It would never end.' },
          cluster_tensorboard: { supported: false, reason: 'No cluster.' },
          debug: { supported: false, reason: 'No pods.' },
          resume_evicted: { supported: false, reason: 'No evictions.' }
        },
        grace_seconds: 10,
        cluster: null,
        machine: {
          hostname: 'lab',
          cpus: 8,
          memory_total: 16 * 2 ** 30,
          memory_available: 6 * 2 ** 30,
          devices: [],
          devices_problem: null
        }
      }
    ],
    root: '/w',
    empty: [],
    runs_dir: '/w/mnist/runs',
    follow_name: ['--log_dir', '--save_path'],
    checks: [],
    notes: [],
    recorder: null,
    ...changes
  };
}

/** What the server says of a form: the command has an argument a line. */
export function somePreview(
  spec: JobSpec,
  changes: Partial<LaunchPreview> = {}
): LaunchPreview {
  return {
    command: ['cd /w/mnist', 'python train.py', ...spec.args].join(' \\\n'),
    environment: { T9KJOB_NAME: spec.name },
    manifest: null,
    summary: '2 processes on this machine',
    checks: [],
    kernel: null,
    ...changes
  };
}

/** A server that fills and previews forms, until a test says otherwise. */
export class LaunchServer extends FakeServer {
  prefill = somePrefill();
  presets: PresetList = { presets: [], locks: [], problems: [] };
  /** What the server answers when a preset is applied; the spec of the request by default. */
  applied: Partial<AppliedPreset> = {};
  savedPreset: (request: IFakeRequest) => Response = ({ body }) =>
    json({ id: 'p', source: 'own', ...(body as object) }, 201);
  /** Changes the preview of a spec. */
  previewChanges: Partial<LaunchPreview> = {};
  created: (request: IFakeRequest) => Response = () =>
    json({ id: 'local::train-1:u1' }, 201);

  override answer = (request: IFakeRequest): Response | Promise<Response> => {
    const { spec = null, dry_run } = (request.body ?? {}) as {
      spec?: JobSpec | null;
      dry_run?: boolean;
    };
    if (request.url.endsWith('/engines')) {
      return json({ engines: this.prefill.engines });
    }
    if (request.url.endsWith('/launch/prefill')) {
      return json({ ...this.prefill, spec: spec ?? this.prefill.spec });
    }
    if (/\/launch\/presets(\?|$)/.test(request.url)) {
      return request.method === 'GET'
        ? json(this.presets)
        : this.savedPreset(request);
    }
    if (request.url.endsWith('/launch/applied-preset')) {
      return json({ spec, notes: [], ...this.applied });
    }
    return spec && (dry_run || request.url.endsWith('/launch/preview'))
      ? json(somePreview(spec, this.previewChanges))
      : this.created(request);
  };

  /** The bodies that a route got. */
  bodies<T>(route: string): T[] {
    return this.requests
      .filter(({ url }) => url.endsWith(route))
      .map(({ body }) => body as T);
  }
}

/** A model whose state database lives as long as the test. */
export function launchModel(
  server: FakeServer,
  options: Partial<ILaunchOptions> & { db?: StateDB } = {}
): LaunchModel {
  return new LaunchModel({
    api: new ApiClient(server.settings()),
    store: new LaunchStore(options.db ?? new StateDB()),
    trans: loadTranslation(null),
    tab: 'tab',
    path: 'mnist/train.py',
    ...options
  });
}
