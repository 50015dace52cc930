/** Typed client of the REST API. */

import { Action } from './aliases';
import { HttpClient, Query } from './http';
import {
  Capacity,
  Checkpoints,
  CodeText,
  CreateJob,
  CreateSweep,
  EngineInfo,
  Event,
  FileDiff,
  ExpandSweep,
  Job,
  JobActions,
  JobActionsResult,
  JobCode,
  JobPage,
  KindSchema,
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
  Restored,
  RepositoryFacts,
  RepositoryRequest,
  SnapshotDiffRequest,
  SnapshotPreview,
  SnapshotRequest,
  StackDump,
  StackList,
  Space,
  SweepPreview,
  SweepResult,
  SweepResults,
  TensorBoard,
  TensorBoardList,
  TerminalList,
  Volume
} from './types';

/** Filter and page of a list of jobs. */
export interface IJobQuery {
  name?: string;
  phase?: string[];
  engine?: string;
  deleted?: boolean;
  limit?: number;
  offset?: number;
}

/** A method for every route of the API. All methods reject with `ApiError`. */
export class ApiClient extends HttpClient {
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

  /** Return the disk space of the records of jobs. */
  space(): Promise<Space> {
    return this._get(['space']);
  }

  /** Act on several jobs, at most 1000; deletion and removal leave active jobs alone. */
  actOnAll(request: JobActions): Promise<JobActionsResult> {
    return this._send('POST', ['job-actions'], { body: request });
  }

  /** Return the PVCs that a job in a namespace can mount. */
  async volumes(engine: string, namespace: string): Promise<Volume[]> {
    const query = { engine, namespace };
    return (
      await this._get<{ volumes: Volume[] }>(['cluster', 'volumes'], query)
    ).volumes;
  }

  /** Return the fields of an engine's manifests. */
  manifestSchema(engine: string): Promise<KindSchema> {
    return this._get(['cluster', 'manifest-schema'], { engine });
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

  /** Return the kept stacks of a job's ranks. */
  stacks(id: string): Promise<StackList> {
    return this._get(['jobs', id, 'stacks']);
  }

  /** Return the replicas and ranks of a job in which a terminal can be opened; search a replica for its ranks. */
  terminals(id: string, replica?: string): Promise<TerminalList> {
    return this._get(['jobs', id, 'terminals'], { replica });
  }

  /** Take the stacks of all ranks of a job, also with frames of C if `native` is true. */
  takeStacks(id: string, native: boolean): Promise<StackDump> {
    return this._send('POST', ['jobs', id, 'stacks'], { body: { native } });
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

  /** Return the URL of a job's archive: record, logs, events, samples and stacks in one ZIP file. */
  jobArchiveUrl(id: string): string {
    return this._url(['jobs', id, 'archive']);
  }

  /**
   * Show the job of an archive that a lab exported.
   *
   * @param path - Path of the archive in the contents API.
   */
  importJob(path: string): Promise<Job> {
    return this._send('POST', ['imported-jobs'], { body: { path } });
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

  /** Return the jobs of a sweep, and the checks of the sweep. */
  expandSweep(
    request: ExpandSweep,
    signal?: AbortSignal
  ): Promise<SweepPreview> {
    return this._send('POST', ['launch', 'sweep'], { body: request, signal });
  }

  /** Create the jobs of a sweep. A repeated request with the same `request_id` returns the jobs of the first one. */
  createSweep(request: CreateSweep): Promise<SweepResult> {
    return this._send('POST', ['sweeps'], { body: request });
  }

  /** Return the metrics that the jobs of a sweep reported. */
  getSweepResults(id: string): Promise<SweepResults> {
    return this._send('GET', ['sweeps', id]);
  }

  /** Stop all jobs of a sweep. */
  stopSweep(id: string): Promise<SweepResult> {
    return this._send('POST', ['sweeps', id, 'stop']);
  }

  /** Create new jobs for those of a sweep that failed. */
  retrySweep(id: string): Promise<SweepResult> {
    return this._send('POST', ['sweeps', id, 'retry']);
  }

  /** End and delete all jobs of a sweep. */
  deleteSweep(id: string): Promise<SweepResult> {
    return this._send('DELETE', ['sweeps', id]);
  }

  /**
   * Return the values of the launch form for a manifest, and the parts of the manifest that the
   * form cannot represent.
   */
  readManifest(request: ReadManifestRequest): Promise<ReadManifest> {
    return this._send('POST', ['launch', 'manifest'], { body: request });
  }

  /** Return the files of the snapshot that a form would take. */
  snapshot(
    request: SnapshotRequest,
    signal?: AbortSignal
  ): Promise<SnapshotPreview> {
    return this._send('POST', ['launch', 'snapshot'], {
      body: request,
      signal
    });
  }

  /** Return how a file of a snapshot differs from the commit that is checked out. */
  snapshotDiff(request: SnapshotDiffRequest): Promise<FileDiff> {
    return this._send('POST', ['launch', 'snapshot-diff'], { body: request });
  }

  /** Return facts about the git repository of a form: the user's own clone, and the repository elsewhere. */
  repository(
    request: RepositoryRequest,
    signal?: AbortSignal
  ): Promise<RepositoryFacts> {
    return this._send('POST', ['launch', 'repository'], {
      body: request,
      signal
    });
  }

  /** Return the code that a job runs, compared with the files of now. */
  code(id: string): Promise<JobCode> {
    return this._get(['jobs', id, 'code']);
  }

  /** Return a file of a job's code, and how the file of now differs from it. */
  codeFile(id: string, file: string): Promise<CodeText> {
    return this._get(['jobs', id, 'code-file'], { file });
  }

  /** Write a job's code to a new folder, given as a path of the contents API. */
  restoreCode(id: string, folder: string): Promise<Restored> {
    return this._send('POST', ['jobs', id, 'restored-code'], {
      body: { folder }
    });
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
}
