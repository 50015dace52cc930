/** List of deleted jobs whose records are kept. */

import { DisposableDelegate, IDisposable } from '@lumino/disposable';
import { ApiClient } from '../../api/client';
import { expectApiError } from '../../api/errors';
import { JobSummary } from '../../api/types';
import { IDeletedJobs } from '../../tokens';

/** Number of jobs in a request; the server's maximum. */
const PAGE = 1000;

/**
 * Deleted jobs whose records are kept.
 *
 * The server does not push these jobs. They are read while the list is shown, and again when a job
 * leaves the list of jobs.
 */
export class DeletedJobs implements IDeletedJobs {
  /** @param _changed - Called when `jobs` or `error` has changed. */
  constructor(
    private readonly _api: ApiClient,
    private readonly _changed: () => void
  ) {}

  /** Newest first; null while they are not shown or not loaded yet. */
  get jobs(): readonly JobSummary[] | null {
    return this._jobs;
  }

  /** Message of the error that prevented reading them; null if there is none. */
  get error(): string | null {
    return this._error;
  }

  /** Return a job of the list by its id. */
  get(id: string): JobSummary | undefined {
    return this._jobs?.find(job => job.id === id);
  }

  /** Read the list, and keep it current until the returned object is disposed. */
  watch(): IDisposable {
    this._count(1);
    return new DisposableDelegate(() => this._count(-1));
  }

  /** Read the list again if it is shown. */
  refresh(): void {
    this._stale = this._shown;
    if (!this._reading) {
      this._reading = true;
      void this._read().finally(() => {
        this._reading = false;
      });
    }
  }

  private _count(by: 1 | -1): void {
    this._watches += by;
    const shown = this._watches > 0;
    if (shown !== this._shown) {
      this._shown = shown;
      this._jobs = this._error = null;
      this._changed();
      this.refresh();
    }
  }

  private async _read(): Promise<void> {
    while (this._stale) {
      this._stale = false;
      try {
        const jobs = await this._all();
        if (this._shown) {
          [this._jobs, this._error] = [jobs, null];
        }
      } catch (error) {
        this._error = expectApiError(error).message;
      }
      this._changed();
    }
  }

  private async _all(): Promise<JobSummary[]> {
    const deleted: JobSummary[] = [];
    let offset = 0;
    let total = 1;
    while (offset < total) {
      const query = { deleted: true, limit: PAGE, offset };
      const page = await this._api.jobs(query);
      deleted.push(...page.jobs.filter(job => job.deleted));
      offset += PAGE;
      total = page.total;
    }
    return deleted;
  }

  private _watches = 0;
  private _shown = false;
  private _stale = false;
  private _reading = false;
  private _jobs: readonly JobSummary[] | null = null;
  private _error: string | null = null;
}
