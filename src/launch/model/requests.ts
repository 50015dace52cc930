/** Requests of the launch form: volumes, queues and engines to choose from, dry run, and creation of the job. */
import { JSONExt, ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { ApiError, expectApiError } from '../../api/client';
import { Job, JobSpec } from '../../api/types';
import { LaunchFields } from './fields';
import { IPlace } from '../../cluster/model/places';
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
      this.preview.show(preview, this.spec);
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
      return this._options.api.createJob(request);
    });
    if (job) {
      await this._remember(this.spec);
    } else if (this.state.refusal?.code === 'NoAnswer') {
      this._set({ refusal: this._unknownEnd(this.state.refusal.message) });
    }
    return job;
  }

  /** Return the error for a lost connection. The server may or may not have created the job. */
  private _unknownEnd(message: string): ApiError {
    const hint = this._options.trans.__(
      'It is not known whether the job was created. Submit again when the server is back: the job is not made twice.'
    );
    return new ApiError(0, { message, code: 'NoAnswer', hint });
  }

  /** Do the work that was deferred while the form was busy. */
  protected abstract _settle(): void;

  /** The request for the current form. A repeated request keeps its id, so the server creates one job. */
  private get _request(): JobRequest {
    const { sent } = this.state;
    const request = {
      ...this._place,
      ...this._source,
      spec: this.spec,
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
    const place = this._place;
    await store.saveLastPlace(place);
    if (manifest) {
      return; // the edited manifest was submitted, not the form
    }
    if (image) {
      await store.saveImage(image);
    }
    if (path !== null) {
      const time = Date.now() / 1000;
      await store.saveLastTime(path, { ...place, spec, time });
    }
  }

  /**
   * Send a request for the form's location. The answer is dropped if the location has changed in the meantime.
   *
   * @param take - Receives the answer, or the error.
   */
  private async _ask<T>(
    ask: (place: IPlace) => Promise<T>,
    take: (answer: T | null, failure: ApiError | null) => void
  ): Promise<void> {
    const { engine, namespace } = this._place;
    let answer: T | null = null;
    let failure: ApiError | null = null;
    try {
      answer = await ask({ engine, namespace });
    } catch (error) {
      failure = expectApiError(error);
    }
    const now = this._place;
    if (now.engine === engine && now.namespace === namespace) {
      take(answer, failure);
    }
  }
}

/** Return true if two requests differ in nothing but their ids. */
function isSame(one: JobRequest | null, other: JobRequest): boolean {
  const [a, b] = [one, other].map(
    request => request && { ...request, request_id: null }
  );
  return JSONExt.deepEqual(
    a as unknown as ReadonlyPartialJSONObject,
    b as unknown as ReadonlyPartialJSONObject
  );
}
