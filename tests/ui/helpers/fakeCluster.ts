/**
 * A server that knows two clusters: it fills and reads forms for them as ours would, in small.
 *
 * It is of use without a cluster only; what the real server does is tried where there is one.
 */
import type { Page, Route } from '@playwright/test';
import type {
  ApiError,
  Check,
  CreateJob,
  EngineInfo,
  JobSpec,
  LaunchPreview,
  Prefill,
  PrefillRequest,
  PreviewRequest,
  ReadManifest,
  ReadManifestRequest,
  Volume
} from '../../../src/api/types';
import { fakeEngine, fakeSpec } from './fakes';

const IMAGE = 't9kpublic/pytorch-2.6.0:sdk-0.6.0';
const able = { supported: true, reason: null };
const unable = (reason: string) => ({ supported: false, reason });

const facts = (kind: string, object: string): EngineInfo['facts'] => ({
  shares_lab_filesystem: false,
  runs_on_lab_machine: false,
  runs_in_kernel: false,
  outlives_server: true,
  creates_jobs: true,
  queues_sweeps: false,
  has_namespaces: true,
  has_pods: true,
  manifest_kind: kind,
  manifest_object: object,
  restart_texts: { with_torchrun: {}, without_torchrun: {} },
  description: `Trains as a ${object}, with what the controller of the cluster can do: restarts that are counted over all replicas, and queues.`
});

/** This machine, T9k and, switched off, Kubeflow. */
export function clusterEngines(): EngineInfo[] {
  return [
    fakeEngine(),
    fakeEngine({
      name: 't9k',
      label: 'T9k',
      facts: facts('t9k', 'PyTorchTrainingJob'),
      namespaces: ['demo', 'team-b'],
      default_namespace: 'demo',
      machine: null,
      cluster: {
        server: '10.96.0.1:443',
        context: null,
        version: '1.34',
        found: 'PyTorchTrainingJob of batch.tensorstack.dev/v1beta1',
        rights: { create_jobs: able, list_volumes: able },
        stale_since: null,
        stale_code: null,
        stale_reason: null,
        stale_hint: null,
        stale_verbatim: null,
        image: IMAGE,
        images: []
      },
      capabilities: {
        ttl: unable(
          'A PyTorchTrainingJob stays until it is deleted; T9k has no time to live for it.'
        )
      }
    }),
    fakeEngine({
      name: 'kubeflow',
      label: 'Kubeflow',
      facts: facts('kubeflow', 'PyTorchJob'),
      available: false,
      reason: 'The cluster has no PyTorchJob of kubeflow.org/v1.',
      machine: null
    })
  ];
}

/** The PVCs of the namespace demo. */
export const VOLUMES: Volume[] = [
  {
    claim: 'hf-cache',
    access_modes: ['ReadOnlyMany'],
    capacity: '500Gi',
    phase: 'Bound',
    storage_class: null,
    lab_path: null,
    mount_path: null,
    sub_path: null
  },
  {
    claim: 'workspace',
    access_modes: ['ReadWriteMany'],
    capacity: '100Gi',
    phase: 'Bound',
    storage_class: null,
    lab_path: '/t9k/mnt',
    mount_path: '/t9k/mnt',
    sub_path: null
  }
];

/** The job that the form begins with. */
export function clusterSpec(): JobSpec {
  const spec = fakeSpec('finetune-1', ['/t9k/mnt/llama3_sft/runs/finetune-1']);
  const [group] = spec.replica_specs;
  return {
    ...spec,
    entrypoint: { kind: 'script', value: '/t9k/mnt/llama3_sft/finetune.py' },
    args: ['--learning_rate', '2e-5', '--log_dir', 'runs/finetune-1'],
    working_dir: '/t9k/mnt/llama3_sft',
    env: [
      { name: 'NCCL_DEBUG', value: 'WARN', secret: null },
      {
        name: 'HF_TOKEN',
        value: null,
        secret: { name: 'hf-lin', key: 'token' }
      }
    ],
    runtime: {
      image: IMAGE,
      pull_policy: 'IfNotPresent',
      pull_secrets: [],
      kernel: null,
      training_runtime: null
    },
    replica_specs: [
      {
        ...group,
        replicas: 2,
        restart_policy: 'OnFailure',
        resources: {
          cpu: { request: null, limit: '32' },
          memory: { request: null, limit: '256Gi' },
          device: { name: 'nvidia.com/gpu', count: 4 }
        }
      }
    ],
    torchrun: {
      proc_per_node: 'gpu',
      max_restarts: 0,
      rdzv_backend: 'c10d',
      extra_options: []
    },
    scheduling: {
      queue: 'default',
      priority: 10,
      priority_class: null,
      node_selector: { 'nvidia.com/gpu.product': 'A100-SXM4-80GB' },
      tolerations: [],
      scheduler: null
    },
    mounts: [
      {
        claim: 'workspace',
        mount_path: '/t9k/mnt',
        sub_path: null,
        read_only: false,
        volume: null
      },
      {
        claim: 'hf-cache',
        mount_path: '/cache',
        sub_path: null,
        read_only: true,
        volume: null
      }
    ],
    shm: { size_limit: '32Gi', volume: null },
    security: { uid: 1000, gid: 1000, fs_group: 1000, restricted: false }
  };
}

/** Fields of a check without its sentence. */
export function fakeCheck(level: Check['level'], message: string): Check {
  return {
    level,
    code: 'Fake',
    message,
    hint: null,
    field: null,
    option: null,
    line: null,
    column: null,
    link: null,
    fix: null
  };
}

interface IFailure extends Partial<ApiError> {
  status: number;
}

/** Takes the place of the routes that fill, read and submit forms. */
export class FakeCluster {
  /** Requests that create jobs. */
  readonly created: CreateJob[] = [];
  /** Answers to the next requests that create a job. */
  refusal: IFailure | null = null;
  /** Facts about a form. */
  checks: Check[] = [
    fakeCheck(
      'passed',
      'The script and its files are on PVC workspace, which the job mounts.'
    ),
    fakeCheck('passed', 'The cluster knows every field.')
  ];
  /** Fields of an edited manifest that a form would drop. */
  lost: Check[] = [];

  async serve(page: Page): Promise<void> {
    const routes: [RegExp, (route: Route) => Promise<void>][] = [
      [
        /\/t9kjob\/engines/,
        route => answer(route, { engines: clusterEngines() })
      ],
      [/\/launch\/prefill/, route => answer(route, this._prefill(route))],
      [/\/launch\/preview/, route => this._preview(route)],
      [/\/launch\/manifest/, route => this._manifest(route)],
      [/\/cluster\/volumes/, route => answer(route, { volumes: VOLUMES })],
      [
        /\/cluster\/queues/,
        route => answer(route, { queues: [], limited: null })
      ],
      [/\/t9kjob\/jobs(\?|$)/, route => this._create(route)]
    ];
    for (const [url, act] of routes) {
      await page.route(url, act);
    }
  }

  private _prefill(route: Route): Prefill {
    const { path, engine, namespace, spec, crossed_from } =
      body<PrefillRequest>(route);
    const isLocal = engine === 'local';
    const given = (spec as JobSpec | null) ?? clusterSpec();
    const none = { queue: null, priority: null };
    return {
      path: path ?? null,
      launched_by: null,
      engine: engine ?? 't9k',
      namespace: namespace ?? '',
      spec: isLocal
        ? {
            ...given,
            scheduling: { ...given.scheduling, ...none },
            env: given.env.filter(row => row.secret === null)
          }
        : given,
      script: {
        description: null,
        options: [
          option('--model_name', 'text', 'meta-llama/Meta-Llama-3-8B'),
          option('--learning_rate', 'float', '1e-4', 'peak learning rate'),
          option('--num_epochs', 'int', '1', 'passes over the data'),
          option('--log_dir', 'text', null, 'TensorBoard events')
        ],
        imports: [],
        env_reads: [{ name: 'WANDB_PROJECT', line: 3, default: null }],
        distributed: true,
        method: 'ddp',
        method_line: 40,
        own_processes: false,
        resume_option: null,
        writes_events: true
      },
      notebook: null,
      kernels: [
        {
          name: 'python3',
          display_name: 'Python 3 (ipykernel)',
          python: '/opt/conda/bin/python',
          python_version: '3.12',
          enabled: true,
          reason: null,
          torch: { version: '2.6.0', devices: 0 }
        }
      ],
      engines: clusterEngines(),
      root: '/t9k/mnt',
      empty: [],
      runs_dir: '/t9k/mnt/llama3_sft/runs',
      follow_name: ['--log_dir'],
      checks: [],
      recorder: null,
      notes:
        isLocal && crossed_from === 't9k'
          ? [
              fakeCheck(
                'warning',
                'Left out: This machine has no queues; jobs that need GPUs wait for each other in order.'
              )
            ]
          : []
    };
  }

  private async _preview(route: Route): Promise<void> {
    const { spec, manifest, engine } = body<PreviewRequest>(route);
    const wrong = manifest ? lineOf(manifest, 'workdir:') : null;
    if (wrong) {
      return fail(route, {
        status: 422,
        message: `Line ${wrong}, column 11: There is no field workdir.`,
        field:
          '/manifest/spec/replicaSpecs/0/template/spec/containers/0/workdir',
        hint: 'Did you mean workingDir?',
        line: wrong,
        column: 11
      });
    }
    return answer(
      route,
      this._shown(spec as JobSpec, manifest ?? null, engine)
    );
  }

  private _shown(
    spec: JobSpec,
    manifest: string | null,
    engine = 't9k'
  ): LaunchPreview {
    const [{ replicas, resources }] = spec.replica_specs;
    const unknown = resources.device && resources.device.count > 8;
    const field = '/spec/replica_specs/0/resources/device/count';
    const message = 'No node has so many GPUs: each has 8.';
    return {
      command: 'torchrun finetune.py',
      environment: {},
      manifest: engine === 'local' ? null : (manifest ?? yamlOf(spec)),
      summary:
        engine === 'local'
          ? '2 processes on this machine'
          : `${replicas} nodes × ${resources.device?.count ?? 0} GPUs`,
      checks: [
        ...(unknown && !manifest
          ? [
              {
                ...fakeCheck('error', message),
                hint: 'Ask for 8 or fewer.',
                field
              }
            ]
          : []),
        ...this.checks
      ],
      kernel: null
    };
  }

  private async _manifest(route: Route): Promise<void> {
    const { text, engine } = body<ReadManifestRequest>(route);
    if (!text.includes('kind: PyTorchTrainingJob')) {
      return fail(route, {
        status: 422,
        message: 'The text is no manifest of a kind that can be run.',
        field: '/manifest/kind',
        line: lineOf(text, 'kind:'),
        column: 1
      });
    }
    const replicas = Number(/replicas: (\d+)/.exec(text)?.[1] ?? 1);
    const spec = clusterSpec();
    const [group] = spec.replica_specs;
    const name = /name: (\S+)/.exec(text)?.[1] ?? spec.name;
    const read: ReadManifest = {
      engine: engine ?? 't9k',
      namespace: 'demo',
      spec: { ...spec, name, replica_specs: [{ ...group, replicas }] },
      manifest: text,
      notes: [],
      lost: this.lost
    };
    return answer(route, read);
  }

  private async _create(route: Route): Promise<void> {
    if (route.request().method() !== 'POST') {
      return route.continue();
    }
    const request = body<CreateJob>(route);
    if (request.dry_run) {
      const { spec, manifest, engine } = request;
      const shown = this._shown(spec as JobSpec, manifest ?? null, engine);
      return answer(route, shown);
    }
    this.created.push(request);
    return fail(route, this.refusal ?? { status: 503, message: 'No cluster.' });
  }
}

function body<T>(route: Route): T {
  return route.request().postDataJSON() as T;
}

function answer(route: Route, json: object): Promise<void> {
  return route.fulfill({ json });
}

function fail(route: Route, { status, ...json }: IFailure): Promise<void> {
  return route.fulfill({ status, json });
}

function lineOf(text: string, part: string): number | null {
  const index = text.split('\n').findIndex(line => line.includes(part));
  return index < 0 ? null : index + 1;
}

function option(
  flag: string,
  kind: 'text' | 'float' | 'int',
  standard: string | null,
  help: string | null = null
): Prefill['script']['options'][number] {
  return {
    flags: [flag],
    dest: flag.slice(2),
    kind,
    default: standard,
    choices: [],
    help,
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
    line: 1
  };
}

/** A PyTorchTrainingJob, in part. */
function yamlOf(spec: JobSpec): string {
  const [group] = spec.replica_specs;
  const { resources } = group;
  return `${dump({
    apiVersion: 'batch.tensorstack.dev/v1beta1',
    kind: 'PyTorchTrainingJob',
    metadata: { name: spec.name, namespace: 'demo', labels: spec.labels },
    spec: {
      torchrunConfig: {
        enabled: spec.torchrun !== null,
        procPerNode: `"${spec.torchrun?.proc_per_node}"`,
        maxRestarts: spec.torchrun?.max_restarts,
        rdzvBackend: 'c10d'
      },
      runPolicy: {
        backoffLimit: spec.run_policy.backoff_limit,
        cleanUpPolicy: spec.run_policy.clean_up
      },
      scheduler: {
        t9kScheduler: {
          queue: spec.scheduling.queue,
          priority: spec.scheduling.priority
        }
      },
      replicaSpecs: [
        {
          type: group.type,
          replicas: group.replicas,
          restartPolicy: group.restart_policy,
          template: {
            spec: {
              securityContext: {
                runAsUser: spec.security.uid,
                runAsGroup: spec.security.gid
              },
              containers: [
                {
                  name: 'pytorch',
                  image: spec.runtime.image,
                  workingDir: spec.working_dir,
                  args: [spec.entrypoint.value, ...spec.args],
                  resources: {
                    limits: {
                      cpu: resources.cpu.limit,
                      memory: resources.memory.limit,
                      'nvidia.com/gpu': resources.device?.count
                    }
                  },
                  volumeMounts: spec.mounts.map(mount => ({
                    name: mount.claim,
                    mountPath: mount.mount_path
                  })),
                  env: spec.env.map(({ name, value, secret }) =>
                    secret
                      ? { name, valueFrom: { secretKeyRef: { ...secret } } }
                      : { name, value: `"${value}"` }
                  )
                }
              ],
              nodeSelector: spec.scheduling.node_selector,
              volumes: spec.mounts.map(({ claim }) => ({
                name: claim,
                persistentVolumeClaim: { claimName: claim }
              }))
            }
          }
        }
      ]
    }
  }).join('\n')}\n`;
}

/** Lines of YAML; what is null or undefined is left out. */
function dump(value: unknown): string[] {
  if (Array.isArray(value)) {
    return value.flatMap(item => {
      const [first, ...rest] = dump(item);
      return [`- ${first}`, ...rest.map(line => `  ${line}`)];
    });
  }
  if (typeof value !== 'object' || value === null) {
    return [String(value)];
  }
  return Object.entries(value).flatMap(([key, item]) => {
    if (item === null || item === undefined) {
      return [];
    }
    if (typeof item !== 'object') {
      return [`${key}: ${item}`];
    }
    const lines = dump(item);
    return lines.length ? [`${key}:`, ...lines.map(line => `  ${line}`)] : [];
  });
}
