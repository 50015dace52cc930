/** Model of the page about disk space: sizes of the records of jobs, and the selection. */
import { ISignal, Signal } from '@lumino/signaling';
import { ApiError, expectApiError } from '../../api/errors';
import { KeptJob, Space } from '../../api/types';

/** Most jobs of a request, see `jobs/bulk.py`; fewer, so that a request is answered soon. */
const AT_ONCE = 50;

/** Requests of the page. */
export interface ISpaceClient {
  space(): Promise<Space>;
  /** Remove records; return why jobs were not removed. */
  remove(ids: string[]): Promise<string[]>;
}

/** Reads the sizes, and removes the records of selected jobs. */
export class SpaceModel {
  constructor(private readonly _client: ISpaceClient) {
    void this.load();
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The sizes, the largest first; null before they are read. */
  get space(): Space | null {
    return this._space;
  }

  get failure(): ApiError | null {
    return this._failure;
  }

  /** True while records are removed. */
  get isRemoving(): boolean {
    return this._isRemoving;
  }

  /** Jobs whose records are to be removed. */
  get selected(): readonly KeptJob[] {
    return (this._space?.jobs ?? []).filter(({ id }) => this._ids.has(id));
  }

  /** Select a job, or no longer select it. Jobs whose records can't be removed are never selected. */
  select(jobs: readonly KeptJob[], isSelected: boolean): void {
    for (const { id, removable } of jobs) {
      if (isSelected && removable) {
        this._ids.add(id);
      } else {
        this._ids.delete(id);
      }
    }
    this._changed.emit();
  }

  /** Read the sizes. */
  async load(): Promise<void> {
    try {
      this._space = await this._client.space();
      this._failure = null;
    } catch (error) {
      this._failure = expectApiError(error);
    }
    this._changed.emit();
  }

  /** Remove the records of the selected jobs; return why jobs were not removed. */
  async removeSelected(): Promise<string[]> {
    const ids = this.selected.map(({ id }) => id);
    const problems: string[] = [];
    this._isRemoving = true;
    this._changed.emit();
    try {
      for (let at = 0; at < ids.length; at += AT_ONCE) {
        problems.push(
          ...(await this._client.remove(ids.slice(at, at + AT_ONCE)))
        );
      }
    } finally {
      this._isRemoving = false;
      this._ids.clear();
      await this.load();
    }
    return problems;
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _ids = new Set<string>();
  private _space: Space | null = null;
  private _failure: ApiError | null = null;
  private _isRemoving = false;
}

/** Return the sum of sizes in bytes. */
export function sizeOf(jobs: readonly KeptJob[]): number {
  return jobs.reduce((sum, { size }) => sum + size, 0);
}
