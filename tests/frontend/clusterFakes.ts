/** A server that knows two clusters, as far as the form asks it. */
import {
  QueueList,
  Check,
  EngineInfo,
  JobSpec,
  ExpandSweep,
  PrefillRequest,
  PreviewRequest,
  ReadManifest,
  RuntimeImage,
  Volume
} from '../../src/api/types';
import { SOME_FACTS } from './fakeJob';
import { IFakeRequest, json } from './fakes';
import {
  LaunchServer,
  somePrefill,
  somePreview,
  someSpec
} from './launchFakes';

const no = (reason: string) => ({ supported: false, reason });

/** This machine, T9k and Kubeflow; of a lab on a laptop. */
export function someEngines(context: string | null = 'test'): EngineInfo[] {
  const [local] = somePrefill().engines;
  const cluster = (
    name: 't9k' | 'kubeflow',
    label: string,
    capabilities: EngineInfo['capabilities']
  ): EngineInfo => ({
    ...local,
    name,
    label,
    facts: SOME_FACTS[name],
    namespaces: ['demo', 'team-b'],
    default_namespace: 'demo',
    machine: null,
    capabilities,
    cluster: {
      server: '10.0.0.1',
      context,
      version: '1.34',
      found: `${label}’s kind`,
      rights: {},
      stale_since: null,
      stale_code: null,
      stale_reason: null,
      stale_hint: null,
      stale_verbatim: null,
      image: null,
      images: []
    }
  });
  return [
    {
      ...local,
      capabilities: { ...local.capabilities, queue: no('No queues here.') }
    },
    cluster('t9k', 'T9k', { ttl: no('No time to live.') }),
    cluster('kubeflow', 'Kubeflow', { priority: no('No priorities.') })
  ];
}

export function someCheck(changes: Partial<Check> = {}): Check {
  return {
    level: 'warning',
    code: 'Lost',
    message: 'Left out: No queues here.',
    hint: null,
    field: null,
    option: null,
    line: null,
    column: null,
    link: null,
    fix: null,
    ...changes
  };
}

/** A training runtime of the whole cluster. */
export function someRuntime(
  runtime: string,
  image: string,
  changes: Partial<RuntimeImage> = {}
): RuntimeImage {
  return {
    runtime,
    image,
    namespace: null,
    framework: 'torch',
    nodes: null,
    processes: null,
    gpus: null,
    ...changes
  };
}

export function someVolume(
  claim: string,
  changes: Partial<Volume> = {}
): Volume {
  return {
    claim,
    access_modes: ['ReadWriteMany'],
    capacity: '1Gi',
    phase: 'Bound',
    storage_class: null,
    lab_path: null,
    mount_path: null,
    sub_path: null,
    ...changes
  };
}

/** Gives this machine's jobs an image and a volume in a cluster, and takes their queue away at home. */
export class ClusterServer extends LaunchServer {
  constructor() {
    super();
    this.prefill = somePrefill({ engines: someEngines() });
    const other = this.answer;
    this.answer = request => this._cluster(request) ?? other(request);
  }

  volumes: Volume[] = [
    someVolume('other'),
    someVolume('own', { lab_path: '/w' })
  ];
  /** Null where the cluster does not answer. */
  queues: QueueList | null = { queues: [], applied: null, limited: null };
  /** What a manifest is read as. */
  read: ReadManifest = {
    engine: 't9k',
    namespace: 'team-b',
    spec: someSpec({ name: 'read' }),
    manifest: 'kind: PyTorchTrainingJob\n',
    notes: [],
    lost: []
  };
  /** Why a manifest can't be read. */
  unreadable: object | null = null;

  private _cluster(request: IFakeRequest): Response | null {
    const { url, body } = request;
    if (url.includes('/cluster/queues')) {
      return this.queues
        ? json(this.queues)
        : json({ message: 'The cluster does not answer.' }, 503);
    }
    if (url.includes('/cluster/volumes')) {
      return json({ volumes: this.volumes });
    }
    if (url.endsWith('/launch/manifest')) {
      return this.unreadable ? json(this.unreadable, 422) : json(this.read);
    }
    if (url.endsWith('/launch/prefill')) {
      return this._fill(body as PrefillRequest);
    }
    if (url.endsWith('/launch/preview')) {
      const { manifest, spec, engine } = body as PreviewRequest;
      if (manifest && this.unreadable) {
        return json(this.unreadable, 422);
      }
      return json(
        somePreview(spec as JobSpec, {
          manifest:
            engine === 'local' ? null : (manifest ?? yamlOf(spec as JobSpec)),
          ...this.previewChanges
        })
      );
    }
    return null;
  }

  private _fill(request: PrefillRequest): Response {
    const { engine = 'local', crossed_from } = request;
    const spec = (request.spec as JobSpec | null) ?? this.prefill.spec;
    const isHome = engine === 'local';
    const lost = isHome && crossed_from !== 'local' && spec.scheduling.queue;
    return json({
      ...this.prefill,
      engine,
      namespace: isHome ? '' : request.namespace || 'demo',
      spec: isHome
        ? { ...spec, scheduling: { ...spec.scheduling, queue: null } }
        : {
            ...spec,
            runtime: { ...spec.runtime, image: spec.runtime.image ?? 'own:1' }
          },
      notes: lost ? [someCheck()] : []
    });
  }
}

function yamlOf(spec: JobSpec): string {
  const [{ replicas }] = spec.replica_specs;
  return `kind: PyTorchTrainingJob\nname: ${spec.name}\nreplicas: ${replicas}\n`;
}

/** Let a server expand each sweep to a job whose name tells the engine. */
export function answerSweeps(server: ClusterServer): void {
  const { answer } = server;
  server.answer = request => {
    const { engine, spec } = request.body as ExpandSweep;
    const name = `${engine}-1`;
    const job = { number: 1, name, left_out: false, values: {} };
    return request.url.endsWith('/launch/sweep')
      ? json({ jobs: [{ ...job, spec: { ...spec, name } }], checks: [] })
      : answer(request);
  };
}
