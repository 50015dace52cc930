/** Values of metrics at a step, which columns of the table show. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { expectApiError } from '../../api/errors';
import { numberOf } from '../../common/filter/parse';
import { RunRow } from '../../api/types';
import { ExperimentsClient } from '../client';

/** Runs of one request. */
const AT_ONCE = 1000;
/** Answers in succession without a new value, after which a value is asked for later. */
const MOST_TRIES = 3;
/** Time in ms after which the next change of the table asks for such a value again. */
const LATER = 60_000;

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

/** Answers without a new value, in which a value was missing that the server had no time to read. */
interface ITries {
  count: number;
  /** Time of the last one, of `performance.now`. */
  at: number;
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
      const key = keyOf(metric, step);
      const known = this._values.get(key);
      const runs = this._wanted.runs.filter(run => {
        const found = known?.get(run.id);
        return (
          Object.hasOwn(run.metrics, metric) &&
          (!found || (found.value === null && found.run !== run)) &&
          this._mayAsk(key, run)
        );
      });
      if (runs.length > 0) {
        // Another try begins with another run: the files of the first may take all the time.
        const tries = this._tries.get(key)?.get(runs[0].id)?.count ?? 0;
        const first = Math.floor(
          ((tries % MOST_TRIES) * runs.length) / MOST_TRIES
        );
        const turned = [...runs.slice(first), ...runs.slice(0, first)];
        return { metric, step, runs: turned.slice(0, AT_ONCE) };
      }
    }
    return null;
  }

  private _mayAsk(key: string, run: RunRow): boolean {
    const tries = this._tries.get(key)?.get(run.id);
    return (
      !tries ||
      tries.count < MOST_TRIES ||
      performance.now() - tries.at >= LATER
    );
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
    const tries = this._tries.get(key) ?? new Map<string, ITries>();
    this._tries.set(key, tries);
    const read = runs.map((_run, index) => numberOf(values[index]));
    const isNew = read.some(value => value !== null);
    runs.forEach((run, index) => {
      const value = read[index];
      if (value !== null || complete) {
        known.set(run.id, { run, value });
        tries.delete(run.id);
      } else if (!isNew) {
        const count = (tries.get(run.id)?.count ?? 0) + 1;
        tries.set(run.id, { count, at: performance.now() });
      }
    });
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _values = new Map<string, Map<string, IValue>>();
  private readonly _tries = new Map<string, Map<string, ITries>>();
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
