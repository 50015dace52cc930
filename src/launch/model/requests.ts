/** Requests of the launch form: volumes, queues and engines to choose from, dry run, and creation of the job. */
import { ServerConnection } from '@jupyterlab/services';
import { JSONExt, ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { ApiError, expectApiError } from '../../api/errors';
import {
  FileDiff,
  Job,
  JobSpec,
  PreviewRequest,
  RepositoryFacts,
  KindSchema,
  SnapshotPreview,
  SweepResult
} from '../../api/types';
import { LaunchFields } from './fields';
import { ILocation } from '../../cluster/model/locations';
import { JobRequest } from './state';

/** Base class of the launch form's model: sends all requests except those that fill the form. */
export abstract class LaunchRequests extends LaunchFields {
  /** Request the PVCs of the namespace. */
  async loadVolumes(): Promise<void> {
    const { api } = this._options;
    await this._ask(
      ({ engine, namespace }) => api.volumes(engine, namespace),
      (list, failure) => {
        this._set({ volumes: { list: list ?? [], failure } });
      }
    );
  }

  /** Request the queues of the namespace. */
  async loadQueues(): Promise<void> {
    const { api } = this._options;
    await this._ask(
      ({ engine, namespace }) => api.queues(engine, namespace),
      (answer, failure) => {
        const queues = answer?.queues ?? this.state.queues?.queues ?? [];
        const limited = answer?.limited ?? failure?.message ?? null;
        const applied = answer?.applied ?? this.state.queues?.applied ?? null;
        this._set({ queues: { queues, applied, limited } });
      }
    );
  }

  /** Return the fields of the engine's manifests. */
  readManifestSchema(): Promise<KindSchema> {
    return this._options.api.manifestSchema(this._location.engine);
  }

  /** Return the files of the snapshot that the form would take; null if it takes none. */
  async readSnapshot(signal: AbortSignal): Promise<SnapshotPreview | null> {
    const { spec } = this;
    return spec.source?.kind === 'snapshot'
      ? this._options.api.snapshot({ ...this._location, spec }, signal)
      : null;
  }

  /** Return facts about the form's git repository and the user's clone; without the form's source, about the clone. */
  readRepository(
    hasSource: boolean,
    signal?: AbortSignal
  ): Promise<RepositoryFacts> {
    const spec = hasSource ? this.spec : { ...this.spec, source: null };
    return this._options.api.repository({ ...this._location, spec }, signal);
  }

  /** Return how a file of the snapshot differs from the commit that is checked out. */
  readSnapshotDiff(file: string): Promise<FileDiff> {
    const { spec } = this;
    return this._options.api.snapshotDiff({ ...this._location, spec, file });
  }

  /** Settings of the connection, for parts of the form with a client of their own. */
  get serverSettings(): ServerConnection.ISettings {
    return this._options.api.serverSettings;
  }

  /** The form as the server reads it, to preview or to try the job. */
  get previewRequest(): PreviewRequest {
    return { ...this._location, ...this._source, spec: this._previewed };
  }

  /** Request the engines anew, with their capabilities and permissions. */
  async refreshEngines(): Promise<void> {
    try {
      const engines = await this._options.api.refreshEngines();
      const { prefill } = this.state; // the form may have been filled during the request
      this._set({ prefill: prefill && { ...prefill, engines } });
    } catch (error) {
      this._set({ refusal: expectApiError(error) });
    }
  }

  /**
   * Let the server validate the form without creating a job.
   *
   * @param isReady - Prepares the request, for example saves the file. Nothing is sent if it returns false.
   */
  async dryRun(isReady?: () => Promise<boolean>): Promise<void> {
    const { api } = this._options;
    let asked: JobRequest | null = null;
    const preview = await this._send('checking', isReady, request => {
      asked = request;
      return api.dryRun(request);
    });
    if (preview && isSame(asked, this._request)) {
      this.preview.show(preview, this._previewed);
      const failed = this.checks.some(check => check.level === 'error');
      this._set({ dryRunPassed: !failed });
    }
  }

  /**
   * Create the job. The form stays busy after success, because the caller closes it.
   *
   * @param isReady - Prepares the request, for example saves the file. Nothing is sent if it returns false.
   * @returns Null if nothing was sent or the server refused the job. `state.refusal` has the reason.
   */
  async submit(isReady?: () => Promise<boolean>): Promise<Job | null> {
    const job = await this._send('submitting', isReady, request => {
      this._set({ sent: request });
      void this.save(); // keep the request's id across a reload of the page
      const { start, clone } = this.state;
      const original = start === 'job' ? (clone?.id ?? null) : null;
      return this._options.api.createJob({
        ...request,
        ...(original !== null && { cloned_from: original })
      });
    });
    if (job) {
      await this._remember(this.spec);
    } else {
      this._explainLoss(
        this._options.trans.__(
          'It is not known whether the job was created. Submit again when the server is back: the job is not created twice.'
        )
      );
    }
    return job;
  }

  /**
   * Create the jobs of the sweep. The form stays busy after success, because the caller closes it.
   *
   * @param isReady - Prepares the request, for example saves the file. Nothing is sent if it returns false.
   * @returns Null if nothing was sent or the server refused the sweep. `state.refusal` has the reason.
   */
  async submitSweep(
    isReady?: () => Promise<boolean>
  ): Promise<SweepResult | null> {
    if (this.sweepJobs.chosen.length === 0) {
      return null; // the preview shows the reason
    }
    const { trans } = this._options;
    const result = await this._send('submitting', isReady, () => {
      const request = this.sweepRequest;
      if (request === null) {
        throw this._endedSweep();
      }
      const { sentSweep: sent } = this.state;
      const next = { ...request, request_id: this.form.requestId };
      const sentSweep = sent && isSame(sent, next) ? sent : next;
      this._set({ sentSweep });
      void this.save(); // keep the request's id across a reload of the page
      return this._options.api.createSweep(sentSweep);
    });
    if (result) {
      await this._remember(this.spec);
    } else {
      this._explainLoss(
        trans.__(
          'It is not known whether the jobs were created. Submit again when the server is back: no job is created twice.'
        )
      );
    }
    return result;
  }

  /** Return the error for a sweep that is none any more, because the script was saved without its options. */
  private _endedSweep(): ApiError {
    const { trans } = this._options;
    return new ApiError(0, {
      message: trans.__(
        'The saved script has no option with several values any more.'
      ),
      hint: trans.__('Check the form and submit again.')
    });
  }

  /**
   * If the connection was lost, add a hint to the refusal. The server may or may not have created the jobs.
   *
   * @param hint - Sentences for the kind of the request.
   */
  private _explainLoss(hint: string): void {
    const { refusal } = this.state;
    if (refusal?.code === 'NoAnswer') {
      const { message, code } = refusal;
      this._set({ refusal: new ApiError(0, { message, code, hint }) });
    }
  }

  /** Read the script if it was saved while the form was busy. */
  protected abstract _readIfDue(): Promise<void>;

  /** Do the work that was deferred while the form was busy. */
  protected abstract _settle(): void;

  /** The request for the current form. A repeated request keeps its id, so the server creates one job. */
  private get _request(): JobRequest {
    const { sent } = this.state;
    const request = {
      ...this._location,
      ...this._source,
      spec: this._previewed,
      request_id: this.form.requestId
    };
    return sent && isSame(sent, request) ? sent : request;
  }

  /**
   * Send the form, unless another request or unfinished work blocks it. Store an error as the refusal.
   *
   * @param busy - The state of the form during the request.
   * @param isReady - Prepares the request. Nothing is sent if it returns false.
   * @returns Null if nothing was sent or the request failed.
   */
  private async _send<T>(
    busy: 'submitting' | 'checking',
    isReady: (() => Promise<boolean>) | undefined,
    send: (request: JobRequest) => Promise<T>
  ): Promise<T | null> {
    if (this.state.busy || this.pending !== null) {
      return null;
    }
    // The form is locked during the request, so the server receives what the user sees.
    this._set({ busy, refusal: null, dryRunPassed: false });
    let answer: T | null = null;
    try {
      if (!isReady || (await isReady())) {
        if (isReady) {
          await this._readIfDue(); // a read after the answer would replace its checks
        }
        answer = await send(this._request);
      }
    } catch (error) {
      this._set({ refusal: expectApiError(error) });
    }
    if (busy === 'checking' || answer === null) {
      this._set({ busy: null });
      this._settle();
    }
    return answer;
  }

  /** Store the location, image and spec of the submitted job for the next launch form. */
  private async _remember(spec: JobSpec): Promise<void> {
    const { store } = this._options;
    const { path, manifest } = this.state;
    const { image } = spec.runtime;
    const location = this._location;
    await store.saveLastLocation(location);
    if (manifest) {
      return; // the edited manifest was submitted, not the form
    }
    if (image) {
      await store.saveImage(image);
    }
    const time = Date.now() / 1000;
    await store.saveLastSubmission({ spec, time });
    if (path !== null) {
      await store.saveLastTime(path, { ...location, spec, time });
    }
  }

  /**
   * Send a request for the form's location. The answer is dropped if the location has changed in the meantime.
   *
   * @param take - Receives the answer, or the error.
   */
  private async _ask<T>(
    ask: (location: ILocation) => Promise<T>,
    take: (answer: T | null, failure: ApiError | null) => void
  ): Promise<void> {
    const { engine, namespace } = this._location;
    let answer: T | null = null;
    let failure: ApiError | null = null;
    try {
      answer = await ask({ engine, namespace });
    } catch (error) {
      failure = expectApiError(error);
    }
    const now = this._location;
    if (now.engine === engine && now.namespace === namespace) {
      take(answer, failure);
    }
  }
}

/** Return true if two requests, or parts of them, differ in nothing but their ids. */
export function isSame<T extends object>(one: T | null, other: T): boolean {
  const [a, b] = [one, other].map(
    request => request && { ...request, request_id: null }
  );
  return JSONExt.deepEqual(
    a as unknown as ReadonlyPartialJSONObject,
    b as unknown as ReadonlyPartialJSONObject
  );
}
