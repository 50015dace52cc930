/** Typed client of the REST API. */

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

/** Path of the API below the server's base URL. */
export const NAMESPACE = 't9kjob';

/** Error answer of the API, or a request without an answer. */
export class ApiError extends Error {
  constructor(
    /** HTTP status; 0 if the server did not answer. */
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

  /** Machine-readable identifier of the error. */
  readonly code: string | null;
  /** JSON pointer to the invalid field of the request; null if no single field is invalid. */
  readonly field: string | null;
  /** Line of the error in a text of the request, from 1. */
  readonly line: number | null;
  /** Column of the error, from 1. */
  readonly column: number | null;
  /** Sentence that says what the user can do. */
  readonly hint: string | null;
  /** Verbatim message of the underlying system. */
  readonly verbatim: string | null;

  /** True if the route does not exist, because the server part is not installed or not enabled. */
  get serverPartMissing(): boolean {
    return this.code === 'ServerPartMissing';
  }
}

/** Return an error if it is an `ApiError`; throw it again otherwise, because it is a bug. */
export function expectApiError(error: unknown): ApiError {
  if (error instanceof ApiError) {
    return error;
  }
  throw error;
}

/** Filter and page of a list of jobs. */
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

/** A method for every route of the API. All methods reject with `ApiError`. */
export class ApiClient {
  constructor(
    readonly serverSettings: ServerConnection.ISettings,
    private readonly _trans: TranslationBundle = loadTranslation(null)
  ) {}

  /** Return all engines, including unavailable ones. */
  async engines(): Promise<EngineInfo[]> {
    return (await this._get<{ engines: EngineInfo[] }>(['engines'])).engines;
  }

  /** Detect the engines and the permissions again, and return all engines. */
  async refreshEngines(): Promise<EngineInfo[]> {
    const { engines } = await this._send<{ engines: EngineInfo[] }>('POST', [
      'engines'
    ]);
    return engines;
  }

  /** Return the PVCs that a job in a namespace can mount. */
  async volumes(engine: string, namespace: string): Promise<Volume[]> {
    const query = { engine, namespace };
    return (
      await this._get<{ volumes: Volume[] }>(['cluster', 'volumes'], query)
    ).volumes;
  }

  /** Return the queues that a job in a namespace can use. */
  queues(engine: string, namespace: string): Promise<QueueList> {
    return this._get(['cluster', 'queues'], { engine, namespace });
  }

  /** Return the free capacity of an engine's cluster and the quotas of a namespace. */
  capacity(engine: string, namespace: string): Promise<Capacity> {
    return this._get(['cluster', 'capacity'], { engine, namespace });
  }

  /** Return the nodes of an engine's cluster with their free capacity. */
  nodes(engine: string): Promise<NodeList> {
    return this._get(['cluster', 'nodes'], { engine });
  }

  /** Return a page of the list of jobs, newest first. */
  jobs(query: IJobQuery = {}): Promise<JobPage> {
    return this._get(['jobs'], { ...query });
  }

  /** Return a job with all its fields. */
  job(id: string): Promise<Job> {
    return this._get(['jobs', id]);
  }

  /** Create a job. A repeated request with the same `request_id` returns the job of the first request. */
  createJob(request: CreateJob & { dry_run?: false }): Promise<Job> {
    return this._send('POST', ['jobs'], { body: request });
  }

  /** Validate a request, and return the command or manifest that `createJob` would run. */
  dryRun(request: CreateJob): Promise<LaunchPreview> {
    return this._send('POST', ['jobs'], {
      body: { ...request, dry_run: true }
    });
  }

  /**
   * Stop a job and delete it.
   *
   * @param id - Id of the job.
   * @param remove - Delete its record and logs as well.
   */
  deleteJob(id: string, remove = false): Promise<Job> {
    return this._send('DELETE', ['jobs', id], { query: { remove } });
  }

  /** Request an action on a job. Return the job, for `rerun` the new job, and for `remove` null. */
  act(id: string, action: Exclude<Action, 'delete'>): Promise<Job | null> {
    return this._send('POST', ['jobs', id, action]);
  }

  /** Return the replicas of a job with their attempts. */
  async replicas(id: string): Promise<Replica[]> {
    return (await this._get<{ replicas: Replica[] }>(['jobs', id, 'replicas']))
      .replicas;
  }

  /** Return the events of a job, newest first. */
  async events(id: string): Promise<Event[]> {
    return (await this._get<{ events: Event[] }>(['jobs', id, 'events']))
      .events;
  }

  /** Return the checkpoint files that were changed while a job ran. */
  checkpoints(id: string): Promise<Checkpoints> {
    return this._get(['jobs', id, 'checkpoints']);
  }

  /** Return the manifest of a job, as submitted and in its current state. */
  manifest(id: string): Promise<ManifestView> {
    return this._get(['jobs', id, 'manifest']);
  }

  /** Return the log streams of a job with their sizes and time spans. */
  async logStreams(id: string): Promise<LogStream[]> {
    return (await this._get<{ streams: LogStream[] }>(['jobs', id, 'logs']))
      .streams;
  }

  /** Return bytes of a log stream, unmodified. */
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

  /**
   * Return the text, or a part of the text, of several log streams, merged by time.
   *
   * The request is refused if the text is longer than `limit` bytes.
   */
  async logText(id: string, query: Query): Promise<string> {
    const response = await this._request('GET', ['jobs', id, 'log-text'], {
      query
    });
    return response.text();
  }

  /** Return the URL from which the browser downloads the text of `logText`. */
  logTextUrl(id: string, query: Query): string {
    return this._url(['jobs', id, 'log-text'], { ...query, download: true });
  }

  /** Return the URL from which the browser downloads a log stream, or all streams of a job as a ZIP file. */
  logDownloadUrl(id: string, stream?: string): string {
    return stream === undefined
      ? this._url(['jobs', id, 'log-archive'])
      : this._url(['jobs', id, 'logs', stream], { download: true });
  }

  /** Return the URL of the bytes of a line. */
  logLineUrl(
    id: string,
    { stream, offset, size }: Pick<LogLine, 'stream' | 'offset' | 'size'>
  ): string {
    return this._url(['jobs', id, 'logs', stream], { offset, limit: size });
  }

  /** Return the values of the launch form for a file. */
  prefill(request: PrefillRequest): Promise<Prefill> {
    return this._send('POST', ['launch', 'prefill'], { body: request });
  }

  /** Return the command or the manifest for a form's values, with the results of the checks. */
  preview(
    request: PreviewRequest,
    signal?: AbortSignal
  ): Promise<LaunchPreview> {
    return this._send('POST', ['launch', 'preview'], { body: request, signal });
  }

  /**
   * Return the values of the launch form for a manifest, and the parts of the manifest that the
   * form cannot represent.
   */
  readManifest(request: ReadManifestRequest): Promise<ReadManifest> {
    return this._send('POST', ['launch', 'manifest'], { body: request });
  }

  /** Return the running TensorBoards, and whether a TensorBoard can be started. */
  tensorBoards(): Promise<TensorBoardList> {
    return this._get(['tensorboards']);
  }

  /** Return a TensorBoard by its id. */
  tensorBoard(id: string): Promise<TensorBoard> {
    return this._get(['tensorboards', id]);
  }

  /** Start a TensorBoard, or return a running one for the same directories. */
  openTensorBoard(request: OpenTensorBoard): Promise<TensorBoard> {
    return this._send('POST', ['tensorboards'], { body: request });
  }

  /** Replace a TensorBoard's process with a new one; its id stays. */
  restartTensorBoard(id: string): Promise<TensorBoard> {
    return this._send('POST', ['tensorboards', id, 'restart']);
  }

  /** Return the names of the runs that a TensorBoard has read so far. */
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
      // A login page or a page of a proxy can have a success status.
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

  /** Return the error for an answer. The API sends errors as JSON; a 404 without JSON is Jupyter's own page. */
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
      // The answer is the HTML page of a proxy or hub, which is not shown to the user.
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
