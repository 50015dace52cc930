import { ISignal, Signal } from '@lumino/signaling';
import { JobDetail } from '../api/types';
import { IJobWatch } from '../tokens';

/** What is known of a watched job, shared by all its watches. */
export interface IWatched {
  readonly watches: Set<JobWatch>;
  message: JobDetail | undefined;
}

/** Live view of one job, told of changes by whoever made it. */
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
