/** Values of metrics at a step, which columns of the table show. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { expectApiError } from '../../api/errors';
import { numberOf } from '../../common/filter/parse';
import { RunRow } from '../../api/types';
import { ExperimentsClient } from '../client';

/** Runs of one request. */
const AT_ONCE = 1000;
/** Requests for values that the server had no time to read. */
const MOST_TRIES = 3;

/** Return the value of a metric of a run at a step; null without a value, or before it is read. */
export type ReadStep = (
  metric: string,
  step: number,
  run: string
) => number | null;

/** A reader without values. */
export const NO_STEPS: ReadStep = () => null;

/** A value, and the state of the run when the value was read. */
interface IValue {
  run: RunRow;
  value: number | null;
}

/** Reads the values of metrics at steps, and keeps them. */
export class StepValues implements IDisposable {
  constructor(private readonly _client: Pick<ExperimentsClient, 'valuesAt'>) {}

  /** Emitted when values were read. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Reads a value. The function is another one after each change. */
  get read(): ReadStep {
    return this._read;
  }

  get isDisposed(): boolean {
    return this._abort.signal.aborted;
  }

  dispose(): void {
    this._abort.abort();
    Signal.clearData(this);
  }

  /** Read the values that are not known yet. A run that had not reached the step is read again after it has grown. */
  want(
    metrics: readonly { metric: string; step: number }[],
    runs: readonly RunRow[]
  ): void {
    this._wanted = { metrics, runs };
    if (!this._isReading && metrics.length > 0) {
      this._isReading = true;
      void this._load();
    }
  }

  private async _load(): Promise<void> {
    for (;;) {
      const next = this._next();
      if (!next) {
        // Set before the function returns: the next call of `want` may come in between.
        this._isReading = false;
        return;
      }
      const { metric, step, runs } = next;
      const request = {
        runs: runs.map(({ id }) => id),
        metrics: [{ metric, step }]
      };
      try {
        const answer = await this._client.valuesAt(request, this._abort.signal);
        this._keep(metric, step, runs, answer.values[0] ?? [], answer.complete);
      } catch (error) {
        this._isReading = false;
        if (!this.isDisposed) {
          expectApiError(error); // the next change of the table asks again
        }
        return;
      }
      if (this.isDisposed) {
        return;
      }
      const { _values: values } = this;
      this._read = (name, at, run) =>
        values.get(keyOf(name, at))?.get(run)?.value ?? null;
      this._changed.emit();
    }
  }

  /** Return the next runs of which a value is not known. */
  private _next(): { metric: string; step: number; runs: RunRow[] } | null {
    for (const { metric, step } of this._wanted.metrics) {
      const known = this._values.get(keyOf(metric, step));
      const runs = this._wanted.runs.filter(run => {
        const found = known?.get(run.id);
        return (
          Object.hasOwn(run.metrics, metric) &&
          (!found || (found.value === null && found.run !== run))
        );
      });
      if (runs.length > 0) {
        return { metric, step, runs: runs.slice(0, AT_ONCE) };
      }
    }
    return null;
  }

  private _keep(
    metric: string,
    step: number,
    runs: readonly RunRow[],
    values: readonly unknown[],
    complete: boolean
  ): void {
    const key = keyOf(metric, step);
    const known = this._values.get(key) ?? new Map<string, IValue>();
    this._values.set(key, known);
    runs.forEach((run, index) => {
      const value = numberOf(values[index]);
      const tries = (this._tries.get(run) ?? 0) + 1;
      if (value !== null || complete || tries >= MOST_TRIES) {
        known.set(run.id, { run, value });
      } else {
        this._tries.set(run, tries);
      }
    });
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _values = new Map<string, Map<string, IValue>>();
  private readonly _tries = new WeakMap<RunRow, number>();
  private readonly _abort = new AbortController();
  private _read: ReadStep = NO_STEPS;
  private _wanted: {
    metrics: readonly { metric: string; step: number }[];
    runs: readonly RunRow[];
  } = { metrics: [], runs: [] };
  private _isReading = false;
}

function keyOf(metric: string, step: number): string {
  return `${step} ${metric}`;
}
