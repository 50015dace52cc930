/** The boundary to the server, pretended: answers to requests, and sockets that tests drive. */
import { ServerConnection } from '@jupyterlab/services';
import {
  Delta,
  JobSummary,
  Reason,
  Snapshot,
  TensorBoard
} from '../../src/api/types';

/** A WebSocket of which the test plays the server's end. */
export class FakeSocket {
  constructor(readonly url: string) {}

  readonly sent: unknown[] = [];
  onopen: (() => void) | null = null;
  onclose: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  closed = false;

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.closed = true;
  }

  /** The server accepts the connection. */
  open(): void {
    this.onopen?.();
  }

  /** The server sends a message. */
  push(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }

  /** The connection breaks. */
  break(): void {
    this.onclose?.();
  }
}

/** What was requested of the fake server. */
export interface IFakeRequest {
  method: string;
  url: string;
  body: unknown;
}

/** A server whose answers the test gives. */
export class FakeServer {
  readonly sockets: FakeSocket[] = [];
  readonly requests: IFakeRequest[] = [];
  /** Answers a request; by default Jupyter's page for what does not exist. */
  answer: (request: IFakeRequest) => Response | Promise<Response> = () =>
    new Response('<html>404</html>', { status: 404 });

  /** The newest connection. */
  get socket(): FakeSocket {
    return this.sockets[this.sockets.length - 1];
  }

  settings(
    options: Partial<ServerConnection.ISettings> = {}
  ): ServerConnection.ISettings {
    const { sockets } = this;
    return ServerConnection.makeSettings({
      baseUrl: 'http://lab/user/a%40b/',
      wsUrl: 'ws://lab/user/a%40b/',
      token: 'secret',
      appendToken: true,
      fetch: this._fetch,
      WebSocket: class extends FakeSocket {
        constructor(url: string) {
          super(url);
          sockets.push(this);
        }
      } as unknown as typeof WebSocket,
      ...options
    });
  }

  private _fetch = async (
    input: RequestInfo,
    init?: RequestInit
  ): Promise<Response> => {
    const request = new Request(input, init);
    const text = await request.text();
    const seen: IFakeRequest = {
      method: request.method,
      // The lab adds the time, so that nothing is cached.
      url: request.url.replace(/[?&]\d+$/, ''),
      body: text ? JSON.parse(text) : undefined
    };
    this.requests.push(seen);
    return this.answer(seen);
  };
}

/** An answer with a JSON body. */
export function json(body: unknown, status = 200): Response {
  return new Response(status === 204 ? null : JSON.stringify(body), { status });
}

/** A running local job. */
export function someJob(changes: Partial<JobSummary> = {}): JobSummary {
  const name = changes.name ?? 'mnist-ddp-1';
  const { devices, ran_seconds = 0 } = changes;
  return {
    id: `local::${name}:u1`,
    engine: 'local',
    namespace: '',
    name,
    uid: 'u1',
    display_name: null,
    phase: 'Running',
    state: changes.phase ?? 'Running',
    reason: null,
    pending_action: null,
    ended_by: null,
    created_at: 1000,
    started_at: 1001,
    ended_at: null,
    ran_seconds: 0,
    running_since: 1001,
    attempt: 1,
    restarts: 0,
    replicas: 1,
    replicas_running: 1,
    nodes: [],
    processes: 2,
    devices: null,
    devices_held: null,
    gpu_hours: devices ? (devices.count * ran_seconds) / 3600 : null,
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
    ...changes
  };
}

/** Why a job is as it is. */
export function someReason(sentence: string): Reason {
  return {
    code: 'Some',
    sentence,
    hint: null,
    fix: null,
    verbatim: null,
    links: []
  };
}

/** A TensorBoard that runs and has data. */
export function someTensorBoard(
  changes: Partial<TensorBoard> = {}
): TensorBoard {
  return {
    id: 'tb1',
    log_dirs: ['/w/mnist_ddp/runs'],
    paths: ['mnist_ddp/runs'],
    label: 'mnist_ddp/runs',
    status: 'running',
    since: 1000,
    reason: null,
    url: 't9kjob/tensorboards/tb1/ui/',
    started_at: 1000,
    last_data_at: 1000,
    runs: null,
    points: null,
    has_data: true,
    job_id: null,
    ...changes
  };
}

/** What changed, as the stream tells it. */
export function delta(changes: Partial<Delta> = {}): Delta {
  return {
    type: 'delta',
    revision: 2,
    time: Date.now() / 1000,
    jobs: [],
    removed_jobs: [],
    tensorboards: [],
    removed_tensorboards: [],
    engines: null,
    capacity: null,
    notices: [],
    complete: true,
    ...changes
  };
}

/** The first message of the stream. */
export function snapshot(changes: Partial<Snapshot> = {}): Snapshot {
  return {
    type: 'snapshot',
    revision: 1,
    time: Date.now() / 1000,
    engines: [],
    jobs: [],
    tensorboards: [],
    capacity: null,
    notices: [],
    complete: true,
    ...changes
  };
}
