import { JSONExt, ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { ApiError, expectApiError } from '../../api/client';
import { Job, JobSpec } from '../../api/types';
import { LaunchFields } from './fields';
import { IPlace } from '../../cluster/model/places';
import { JobRequest } from './state';

/** Requests of a launch form that do not fill it: lists to choose from, validation, and the creation of the job. */
export abstract class LaunchRequests extends LaunchFields {
  /** List the PVCs of the namespace. */
  async loadVolumes(): Promise<void> {
    const { api } = this._options;
    await this._ask(
      ({ engine, namespace }) => api.volumes(engine, namespace),
      (list, failure) => {
        this._set({ volumes: { list: list ?? [], failure } });
      }
    );
  }

  /** List the queues that the job can be put into. */
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

  /** Look again at what there is, and what may be done there. */
  async refreshEngines(): Promise<void> {
    try {
      const engines = await this._options.api.refreshEngines();
      const { prefill } = this.state; // the form can have been filled since
      this._set({ prefill: prefill && { ...prefill, engines } });
    } catch (error) {
      this._set({ refusal: expectApiError(error) });
    }
  }

  /**
   * Let the server validate the whole form without creating anything.
   *
   * @param isReady - Saves the file, say; nothing is sent if it answers false.
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
   * Create the job that the form shows. Once it is created, the form stays busy: it is to be closed.
   *
   * @param isReady - Saves the file, say; nothing is sent if it answers false.
   * @returns Null if nothing was sent or the server refused the job; `state` says why.
   */
  async submit(isReady?: () => Promise<boolean>): Promise<Job | null> {
    const job = await this._send('submitting', isReady, request => {
      this._set({ sent: request });
      void this.save(); // the request's id survives a reload of the page
      return this._options.api.createJob(request);
    });
    if (job) {
      await this._remember(this.spec);
    } else if (this.state.refusal?.code === 'NoAnswer') {
      this._set({ refusal: this._unknownEnd(this.state.refusal.message) });
    }
    return job;
  }

  /** The request to create the job, or its answer, was lost. */
  private _unknownEnd(message: string): ApiError {
    const hint = this._options.trans.__(
      'It is not known whether the job was created. Submit again when the server is back: the job is not made twice.'
    );
    return new ApiError(0, { message, code: 'NoAnswer', hint });
  }

  /** The form waits for nothing any more: do what was put off. */
  protected abstract _settle(): void;

  /** The job that would be submitted now. */
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

  private async _send<T>(
    busy: 'submitting' | 'checking',
    isReady: (() => Promise<boolean>) | undefined,
    send: (request: JobRequest) => Promise<T>
  ): Promise<T | null> {
    if (this.state.busy || this.pending !== null) {
      return null;
    }
    // The form can't be changed from here on, so that the job is the one that is shown.
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

  /** Keep what the next form may begin with. */
  private async _remember(spec: JobSpec): Promise<void> {
    const { store } = this._options;
    const { path, manifest } = this.state;
    const { image } = spec.runtime;
    const place = this._place;
    await store.saveLastPlace(place);
    if (manifest) {
      return; // the form is not what was submitted
    }
    if (image) {
      await store.saveImage(image);
    }
    if (path !== null) {
      const time = Date.now() / 1000;
      await store.saveLastTime(path, { ...place, spec, time });
    }
  }

  /** Ask what there is where the job will run; an answer that comes after the form has moved elsewhere is dropped. */
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

/** Return true if two requests are for the same job. */
function isSame(one: JobRequest | null, other: JobRequest): boolean {
  const [a, b] = [one, other].map(
    request => request && { ...request, request_id: null }
  );
  return JSONExt.deepEqual(
    a as unknown as ReadonlyPartialJSONObject,
    b as unknown as ReadonlyPartialJSONObject
  );
}
