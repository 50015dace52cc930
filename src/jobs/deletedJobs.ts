import { ApiClient, expectApiError } from '../api/client';
import { JobSummary } from '../api/types';
import { IDeletedJobs } from '../tokens';

/** Jobs that are asked for at once; the most that the server gives. */
const PAGE = 1000;

/**
 * Jobs that were deleted and whose records are kept.
 *
 * They are not pushed: they are read while somebody wants to see them, and again when a job left the list.
 */
export class DeletedJobs implements IDeletedJobs {
  /** @param _changed - Told when the list or `error` changed. */
  constructor(
    private readonly _api: ApiClient,
    private readonly _changed: () => void
  ) {}

  /** Newest first; null while they are not shown, or not known yet. */
  get jobs(): readonly JobSummary[] | null {
    return this._jobs;
  }

  /** Why they could not be read, in words. */
  get error(): string | null {
    return this._error;
  }

  get(id: string): JobSummary | undefined {
    return this._jobs?.find(job => job.id === id);
  }

  /** Have them read, or forget them. */
  show(shown: boolean): void {
    if (shown !== this._shown) {
      this._shown = shown;
      this._jobs = this._error = null;
      this._changed();
      this.refresh();
    }
  }

  /** Read them again, if they are shown: one may have come or gone. */
  refresh(): void {
    this._stale = this._shown;
    if (!this._reading) {
      this._reading = true;
      void this._read().finally(() => {
        this._reading = false;
      });
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

  private _shown = false;
  private _stale = false;
  private _reading = false;
  private _jobs: readonly JobSummary[] | null = null;
  private _error: string | null = null;
}
