/** Live view of one job. */

import { ISignal, Signal } from '@lumino/signaling';
import { JobDetail } from '../../api/types';
import { IJobWatch } from '../../tokens';

/** Last message about a job, shared by all watches of the job. */
export interface IWatched {
  readonly watches: Set<JobWatch>;
  message: JobDetail | undefined;
}

/** Live view of one job. Its creator calls `emit` when the shared message has changed. */
export class JobWatch implements IJobWatch {
  constructor(
    readonly id: string,
    private readonly _detail: IWatched,
    private readonly _release: () => void
  ) {}

  get detail(): JobDetail | null | undefined {
    const message = this._detail.message;
    return message?.job === null ? null : message;
  }

  get changed(): ISignal<IJobWatch, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Notify the listeners of a change. */
  emit(): void {
    this._changed.emit();
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._release();
      Signal.clearData(this);
    }
  }

  private _isDisposed = false;
  private _changed = new Signal<this, void>(this);
}
