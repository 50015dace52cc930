import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import { TranslationBundle } from '@jupyterlab/translation';
import { loadTranslation } from '../common/translation';
import { Action } from './aliases';
import {
  ApiError as ApiErrorBody,
  Capacity,
  Checkpoints,
  CreateJob,
  EngineInfo,
  Event,
  Job,
  JobPage,
  LaunchPreview,
  LogLine,
  LogStream,
  ManifestView,
  NodeList,
  OpenTensorBoard,
  Prefill,
  PrefillRequest,
  PreviewRequest,
  QueueList,
  ReadManifest,
  ReadManifestRequest,
  Replica,
  TensorBoard,
  TensorBoardList,
  Volume
} from './types';

/** Path of our routes below the server's base URL. */
export const NAMESPACE = 't9kjob';

/** What the server answered instead of what was asked for. */
export class ApiError extends Error {
  constructor(
    /** HTTP status; 0 when there was no answer at all. */
    readonly status: number,
    body: Partial<ApiErrorBody> & { message: string }
  ) {
    super(body.message);
    this.name = 'ApiError';
    this.code = body.code ?? null;
    this.field = body.field ?? null;
    this.line = body.line ?? null;
    this.column = body.column ?? null;
    this.hint = body.hint ?? null;
    this.verbatim = body.verbatim ?? null;
  }

  /** Identifier of the error, for programs. */
  readonly code: string | null;
  /** JSON pointer into the request, if one field is wrong. */
  readonly field: string | null;
  /** Where in a text that was sent, from 1. */
  readonly line: number | null;
  readonly column: number | null;
  /** What to do about it, a sentence. */
  readonly hint: string | null;
  /** The system's own words. */
  readonly verbatim: string | null;

  /** The route does not exist: the server part is not installed or not enabled. */
  get serverPartMissing(): boolean {
    return this.code === 'ServerPartMissing';
  }
}

/** The server's refusal; anything else that was thrown is a bug and is thrown on. */
export function expectApiError(error: unknown): ApiError {
  if (error instanceof ApiError) {
    return error;
  }
  throw error;
}

/** Which jobs to list. */
export interface IJobQuery {
  name?: string;
  phase?: string[];
  engine?: string;
  deleted?: boolean;
  limit?: number;
  offset?: number;
}

type Query = Record<string, string | number | boolean | string[] | undefined>;

interface IRequest {
  query?: Query;
  body?: object;
  signal?: AbortSignal;
}

/** Typed calls to every route of the API. All reject with `ApiError`. */
export class ApiClient {
  constructor(
    readonly serverSettings: ServerConnection.ISettings,
    private readonly _trans: TranslationBundle = loadTranslation(null)
  ) {}

  /** Engines found, available or not. */
  async engines(): Promise<EngineInfo[]> {
    return (await this._get<{ engines: EngineInfo[] }>(['engines'])).engines;
  }

  /** Look again at what there is and what may be done. */
  async refreshEngines(): Promise<EngineInfo[]> {
    const { engines } = await this._send<{ engines: EngineInfo[] }>('POST', [
      'engines'
    ]);
    return engines;
  }

  /** The PVCs that a job in a namespace can have. */
  async volumes(engine: string, namespace: string): Promise<Volume[]> {
    const query = { engine, namespace };
    return (
      await this._get<{ volumes: Volume[] }>(['cluster', 'volumes'], query)
    ).volumes;
  }

  /** The queues that a job in a namespace can be put into. */
  queues(engine: string, namespace: string): Promise<QueueList> {
    return this._get(['cluster', 'queues'], { engine, namespace });
  }

  /** What of an engine's cluster is free now, and the quotas of a namespace. */
  capacity(engine: string, namespace: string): Promise<Capacity> {
    return this._get(['cluster', 'capacity'], { engine, namespace });
  }

  /** The nodes of an engine's cluster, with what is free on each. */
  nodes(engine: string): Promise<NodeList> {
    return this._get(['cluster', 'nodes'], { engine });
  }

  /** Jobs, newest first. */
  jobs(query: IJobQuery = {}): Promise<JobPage> {
    return this._get(['jobs'], { ...query });
  }

  /** One job in full. */
  job(id: string): Promise<Job> {
    return this._get(['jobs', id]);
  }

  /** Create a job; the same `request_id` again gives the first one. */
  createJob(request: CreateJob & { dry_run?: false }): Promise<Job> {
    return this._send('POST', ['jobs'], { body: request });
  }

  /** Validate what `createJob` would create. */
  dryRun(request: CreateJob): Promise<LaunchPreview> {
    return this._send('POST', ['jobs'], {
      body: { ...request, dry_run: true }
    });
  }

  /** End a job and delete it; with `remove` its record and logs as well. */
  deleteJob(id: string, remove = false): Promise<Job> {
    return this._send('DELETE', ['jobs', id], { query: { remove } });
  }

  /** Stop, pause, resume or rerun (answers the new job); `remove` answers null. */
  act(id: string, action: Exclude<Action, 'delete'>): Promise<Job | null> {
    return this._send('POST', ['jobs', id, action]);
  }

  /** Replicas with their attempts. */
  async replicas(id: string): Promise<Replica[]> {
    return (await this._get<{ replicas: Replica[] }>(['jobs', id, 'replicas']))
      .replicas;
  }

  /** Events, newest first. */
  async events(id: string): Promise<Event[]> {
    return (await this._get<{ events: Event[] }>(['jobs', id, 'events']))
      .events;
  }

  /** Checkpoint files that were changed while a job ran. */
  checkpoints(id: string): Promise<Checkpoints> {
    return this._get(['jobs', id, 'checkpoints']);
  }

  /** A job as submitted and as it is. */
  manifest(id: string): Promise<ManifestView> {
    return this._get(['jobs', id, 'manifest']);
  }

  /** Log streams with sizes and spans. */
  async logStreams(id: string): Promise<LogStream[]> {
    return (await this._get<{ streams: LogStream[] }>(['jobs', id, 'logs']))
      .streams;
  }

  /** Bytes of one stream as they were written. */
  async logBytes(
    id: string,
    stream: string,
    range: { offset?: number; limit?: number } = {}
  ): Promise<ArrayBuffer> {
    const response = await this._request('GET', ['jobs', id, 'logs', stream], {
      query: { ...range }
    });
    return response.arrayBuffer();
  }

  /** The text of some streams, merged by time, or a passage of it; rejects where it has more than `limit` bytes. */
  async logText(id: string, query: Query): Promise<string> {
    const response = await this._request('GET', ['jobs', id, 'log-text'], {
      query
    });
    return response.text();
  }

  /** Address from which the browser downloads the same. */
  logTextUrl(id: string, query: Query): string {
    return this._url(['jobs', id, 'log-text'], { ...query, download: true });
  }

  /** Address from which the browser downloads one stream, or all of them as a ZIP file. */
  logDownloadUrl(id: string, stream?: string): string {
    return stream === undefined
      ? this._url(['jobs', id, 'log-archive'])
      : this._url(['jobs', id, 'logs', stream], { download: true });
  }

  /** Address of a line's bytes. */
  logLineUrl(
    id: string,
    { stream, offset, size }: Pick<LogLine, 'stream' | 'offset' | 'size'>
  ): string {
    return this._url(['jobs', id, 'logs', stream], { offset, limit: size });
  }

  /** From a path to a filled form. */
  prefill(request: PrefillRequest): Promise<Prefill> {
    return this._send('POST', ['launch', 'prefill'], { body: request });
  }

  /** From a form to the command or manifest, with checks. */
  preview(
    request: PreviewRequest,
    signal?: AbortSignal
  ): Promise<LaunchPreview> {
    return this._send('POST', ['launch', 'preview'], { body: request, signal });
  }

  /** From a manifest's text to a form, and what that would lose. */
  readManifest(request: ReadManifestRequest): Promise<ReadManifest> {
    return this._send('POST', ['launch', 'manifest'], { body: request });
  }

  /** TensorBoards that run, and whether one can be started at all. */
  tensorBoards(): Promise<TensorBoardList> {
    return this._get(['tensorboards']);
  }

  /** One TensorBoard. */
  tensorBoard(id: string): Promise<TensorBoard> {
    return this._get(['tensorboards', id]);
  }

  /** Open a TensorBoard; a running one on the same directories is used again. */
  openTensorBoard(request: OpenTensorBoard): Promise<TensorBoard> {
    return this._send('POST', ['tensorboards'], { body: request });
  }

  /** Start a TensorBoard's process anew, in place. */
  restartTensorBoard(id: string): Promise<TensorBoard> {
    return this._send('POST', ['tensorboards', id, 'restart']);
  }

  /** Names of the runs that a TensorBoard has read so far. */
  tensorBoardRuns(id: string): Promise<string[]> {
    return this._get(['tensorboards', id, 'ui', 'data', 'runs']);
  }

  /** Stop a TensorBoard. */
  async stopTensorBoard(id: string): Promise<void> {
    await this._send('DELETE', ['tensorboards', id]);
  }

  private _url(path: string[], query: Query = {}): string {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      for (const item of Array.isArray(value) ? value : [value]) {
        if (item !== undefined) {
          search.append(name, String(item));
        }
      }
    }
    const url = URLExt.join(
      this.serverSettings.baseUrl,
      NAMESPACE,
      ...path.map(encodeURIComponent)
    );
    const text = search.toString();
    return text ? `${url}?${text}` : url;
  }

  private _get<T>(path: string[], query: Query = {}): Promise<T> {
    return this._send('GET', path, { query });
  }

  private async _send<T>(
    method: string,
    path: string[],
    request: IRequest = {}
  ): Promise<T> {
    const response = await this._request(method, path, request);
    if (response.status === 204) {
      return null as T;
    }
    const text = await response.text().catch(error => {
      throw this._noAnswer(error);
    });
    try {
      return JSON.parse(text) as T;
    } catch (error) {
      // A login page, or a proxy's own, that comes as a success.
      throw new ApiError(response.status, {
        message: this._trans.__(
          'The answer did not come from the server part of Distributed Jobs.'
        ),
        code: 'NotJson',
        hint: this._trans.__(
          'You may have to log in again: reload the page. A proxy in between may also be the cause.'
        ),
        verbatim: String(error)
      });
    }
  }

  private async _request(
    method: string,
    path: string[],
    { query, body, signal }: IRequest
  ): Promise<Response> {
    let response: Response;
    try {
      response = await ServerConnection.makeRequest(
        this._url(path, query),
        { method, signal, ...(body && { body: JSON.stringify(body) }) },
        this.serverSettings
      );
    } catch (error) {
      throw this._noAnswer(error);
    }
    if (!response.ok) {
      throw await this._error(response);
    }
    return response;
  }

  private _noAnswer(error: unknown): ApiError {
    return new ApiError(0, {
      message: this._trans.__('The Jupyter server does not answer.'),
      code: 'NoAnswer',
      verbatim: String(error)
    });
  }

  /** Our routes answer errors in JSON; a 404 that is not is Jupyter's own page. */
  private async _error(response: Response): Promise<ApiError> {
    const text = await response.text();
    let body: Partial<ApiErrorBody> = {};
    try {
      body = JSON.parse(text);
    } catch {
      if (response.status === 404) {
        return new ApiError(404, {
          message: this._trans.__(
            'The server part of Distributed Jobs is not running.'
          ),
          code: 'ServerPartMissing'
        });
      }
      // A proxy or a hub in between answered; its page is of no use to a person.
    }
    return new ApiError(response.status, {
      ...body,
      message:
        body.message ||
        this._trans.__(
          'The Jupyter server answered %1 %2.',
          response.status,
          response.statusText
        )
    });
  }
}
