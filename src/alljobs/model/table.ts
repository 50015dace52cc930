/** Model of the table of jobs: the shown rows, their order, and the selection. */
import { TranslationBundle } from '@jupyterlab/translation';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { EngineInfo, JobSummary } from '../../api/types';
import { serverNow } from '../../common/clock';
import { readFilter } from '../../common/filter/compile';
import { Fields } from '../../common/filter/fields';
import { FilterProblem } from '../../common/filter/parse';
import { isEqual, memoized } from '../../common/memo';
import { Selection } from '../../common/grid/selection';
import { labelOf } from '../../jobs/engines';
import { IJobsModel } from '../../tokens';
import {
  allColumns,
  defaultKeys,
  IJobColumn,
  metricsOf,
  NAME_COLUMN,
  ownerOf
} from './columns';
import { Test, testsOf } from './conditions';
import { fieldsOf, isExpression, sweepValues, WordSearch } from './fields';
import { keepOrder, rowsOf, sortJobs, TableRow } from './rows';
import { BUILT_IN_VIEWS, IJobsView, ownKey } from './view';

interface ITableOptions {
  jobs: Pick<IJobsModel, 'jobs' | 'deleted' | 'engines' | 'changed'>;
  view: IJobsView;
  /** Views that the user saved, by their names. */
  views: Readonly<Record<string, IJobsView>>;
  /** Key of the view that was chosen last; a name, or one of `BUILT_IN`. */
  chosen: string;
  trans: TranslationBundle;
}

/** The table of jobs. All lists keep their identity until their content changes. */
export class JobTableModel implements IDisposable {
  constructor(options: ITableOptions) {
    const { jobs, trans } = options;
    this._view = options.view;
    this._views = options.views;
    this._chosen = options.chosen;
    this.jobs = jobs;
    this._words = new WordSearch(
      job => `${labelOf(jobs.engines, job.engine)} ${job.namespace}`,
      trans
    );
    this._watchDeleted();
  }

  readonly jobs: ITableOptions['jobs'];

  /** Emitted when a setting or the selection changed; `jobs.changed` is emitted when jobs changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._deleted?.dispose();
      Signal.clearData(this);
    }
  }

  /** Settings of the table. */
  get view(): IJobsView {
    return this._view;
  }

  /** Views that were saved under names. */
  get views(): Readonly<Record<string, IJobsView>> {
    return this._views;
  }

  set views(views: Readonly<Record<string, IJobsView>>) {
    this._views = views;
    this._changed.emit();
  }

  /** Delete a saved view; the table shows all jobs if it showed this view. */
  deleteView(name: string): void {
    this._views = Object.fromEntries(
      Object.entries(this._views).filter(([key]) => key !== name)
    );
    if (this._chosen === ownKey(name)) {
      this.choose('all', BUILT_IN_VIEWS.all);
    } else {
      this._changed.emit();
    }
  }

  /** Key of the view that was chosen last. */
  get chosen(): string {
    return this._chosen;
  }

  /** Show a view. */
  choose(key: string, view: IJobsView): void {
    this._chosen = key;
    this._setView(view);
  }

  /** Change some settings. */
  change(changes: Partial<IJobsView>): void {
    this._setView({ ...this._view, ...changes });
  }

  get engines(): readonly EngineInfo[] {
    return this.jobs.engines;
  }

  /** All jobs without a filter. */
  get known(): readonly JobSummary[] {
    return this._readKnown({
      jobs: this.jobs.jobs,
      deleted: this._view.deleted ? this.jobs.deleted.jobs : null
    });
  }

  /** Names of owners, sorted. */
  get owners(): readonly string[] {
    return this._readOwners({ jobs: this.known });
  }

  /** Fields that an expression can name. */
  get fields(): Fields<JobSummary> {
    return this._readFields({
      metrics: this._metrics,
      values: this._readValues({ jobs: this.known }).join('\n')
    });
  }

  /** All columns that the table can show. */
  get allColumns(): readonly IJobColumn[] {
    return this._readAll({ metrics: this._metrics });
  }

  /** Columns that the table shows, after the names. */
  get columns(): readonly IJobColumn[] {
    return this._readColumns({
      all: this.allColumns,
      keys: this._view.columns
    });
  }

  /** The error of the filter; null if the filter can be applied. */
  get problem(): FilterProblem | null {
    return this._filter.problem;
  }

  /** Jobs that the view shows, in order. */
  get shown(): readonly JobSummary[] {
    const { order } = this._view;
    // Each key that is typed changes the filter, and sorting takes longer than filtering.
    const sorted = this._readShown({
      jobs: this._readSorted({
        jobs: this.known,
        order,
        column:
          order.key === 'default'
            ? undefined
            : [NAME_COLUMN, ...this.allColumns].find(
                ({ key }) => key === order.key
              )
      }),
      view: this._view,
      filter: this._filter
    });
    return this._held === null
      ? sorted
      : this._readHeld({ sorted, held: this._held });
  }

  /** Rows of the table. */
  get rows(): readonly TableRow[] {
    return this._readRows({
      jobs: this.shown,
      group: this._view.group,
      folded: this._folded,
      byNumber: this._view.order.key === 'default'
    });
  }

  /** The selection; it may have jobs that the view hides. */
  get selection(): Selection {
    return this._selection;
  }

  set selection(selection: Selection) {
    this._selection = selection;
    this._changed.emit();
  }

  /** Selected jobs that are shown, in the order of the table. */
  get selected(): readonly JobSummary[] {
    return this._readSelected({ jobs: this.shown, selection: this._selection });
  }

  /** Return the number of jobs that a view shows. */
  count(view: IJobsView): number {
    if (view === this._view) {
      return this.shown.length;
    }
    const known = this.known;
    let count = this._counts.get(view);
    if (!count || count.jobs !== known) {
      const tests = testsOf(view, this._testOf(view.filter).test, serverNow());
      const total = known.filter(job => tests.every(test => test(job))).length;
      count = { jobs: known, total };
      this._counts.set(view, count);
    }
    return count.total;
  }

  /** Open or fold a group or a sweep. */
  toggle(key: string): void {
    const folded = new Set(this._folded);
    if (!folded.delete(key)) {
      folded.add(key);
    }
    this._folded = folded;
    this._changed.emit();
  }

  /** Keep the order of the rows while the pointer or the focus is in the table. */
  hold(isHeld: boolean): void {
    if (isHeld === (this._held !== null)) {
      return;
    }
    const { shown } = this;
    this._held = isHeld
      ? new Map(shown.map(({ id }, index) => [id, index]))
      : null;
    if (this.shown.some((job, index) => job !== shown[index])) {
      this._changed.emit();
    }
  }

  /** Notify the listeners of a change outside of the model. */
  refresh(): void {
    this._changed.emit();
  }

  private _setView(view: IJobsView): void {
    this._view = view;
    this._held = null;
    this._watchDeleted();
    this._changed.emit();
  }

  /** Read the list of deleted jobs while it is shown. */
  private _watchDeleted(): void {
    if (this._view.deleted !== (this._deleted !== null)) {
      this._deleted?.dispose();
      this._deleted = this._view.deleted ? this.jobs.deleted.watch() : null;
    }
  }

  private get _metrics(): string {
    return this._readMetrics({ jobs: this.known });
  }

  private get _filter(): { test: Test | null; problem: FilterProblem | null } {
    return this._readFilter({ text: this._view.filter, fields: this.fields });
  }

  /** Read the text of a filter. After an error, all jobs are shown. */
  private _testOf(text: string): {
    test: Test | null;
    problem: FilterProblem | null;
  } {
    if (text.trim() === '') {
      return { test: null, problem: null };
    }
    if (!isExpression(text)) {
      return { test: this._words.matches(text), problem: null };
    }
    try {
      return {
        test: readFilter(text, this.fields)?.matches ?? null,
        problem: null
      };
    } catch (problem) {
      if (!(problem instanceof FilterProblem)) {
        throw problem;
      }
      return { test: null, problem };
    }
  }

  private readonly _readKnown = memoized(
    (of: {
      jobs: readonly JobSummary[];
      deleted: readonly JobSummary[] | null;
    }): readonly JobSummary[] => {
      const jobs = of.jobs.filter(({ deleted }) => !deleted);
      return of.deleted ? [...jobs, ...of.deleted] : jobs;
    }
  );
  private readonly _readOwners = memoized(
    (of: { jobs: readonly JobSummary[] }): readonly string[] =>
      [...new Set(of.jobs.map(job => ownerOf(job) ?? ''))].sort()
  );
  private readonly _readValues = memoized(
    (of: { jobs: readonly JobSummary[] }) => sweepValues(of.jobs)
  );
  private readonly _readMetrics = memoized(
    (of: { jobs: readonly JobSummary[] }) => metricsOf(of.jobs).join('\n')
  );
  private readonly _readFields = memoized(
    (of: { metrics: string; values: string }) =>
      fieldsOf(linesOf(of.metrics), linesOf(of.values))
  );
  private readonly _readAll = memoized(
    (of: { metrics: string }): readonly IJobColumn[] =>
      allColumns(linesOf(of.metrics))
  );
  private readonly _readColumns = memoized(
    (of: {
      all: readonly IJobColumn[];
      keys: readonly string[] | null;
    }): readonly IJobColumn[] => {
      const shown = new Set(of.keys ?? defaultKeys(of.all));
      return of.all.filter(({ key }) => shown.has(key));
    }
  );
  private readonly _readFilter = memoized(
    (of: { text: string; fields: Fields<JobSummary> }) => this._testOf(of.text)
  );
  private readonly _readSorted = memoized(
    (of: {
      jobs: readonly JobSummary[];
      order: IJobsView['order'];
      column: IJobColumn | undefined;
    }): readonly JobSummary[] =>
      sortJobs(of.jobs, of.column, of.order, serverNow())
  );
  private readonly _readShown = memoized(
    (of: {
      jobs: readonly JobSummary[];
      view: IJobsView;
      filter: { test: Test | null };
    }): readonly JobSummary[] => {
      const tests = testsOf(of.view, of.filter.test, serverNow());
      return of.jobs.filter(job => tests.every(test => test(job)));
    }
  );
  private readonly _readHeld = memoized(
    (of: {
      sorted: readonly JobSummary[];
      held: ReadonlyMap<string, number>;
    }): readonly JobSummary[] => keepOrder(of.sorted, of.held)
  );
  private readonly _readRows = memoized(
    (of: {
      jobs: readonly JobSummary[];
      group: IJobsView['group'];
      folded: ReadonlySet<string>;
      byNumber: boolean;
    }): readonly TableRow[] => rowsOf(of.jobs, of.group, of.folded, of.byNumber)
  );
  private readonly _readSelected = memoized(
    (of: { jobs: readonly JobSummary[]; selection: Selection }) =>
      of.selection.ids.size === 0
        ? []
        : of.jobs.filter(({ id }) => of.selection.ids.has(id))
  );

  private readonly _changed = new Signal<this, void>(this);
  private readonly _words: WordSearch;
  private readonly _counts = new WeakMap<
    IJobsView,
    { jobs: readonly JobSummary[]; total: number }
  >();
  private _view: IJobsView;
  private _views: Readonly<Record<string, IJobsView>>;
  private _chosen: string;
  private _selection = new Selection();
  private _folded: ReadonlySet<string> = new Set();
  /** Places of the jobs in the order that is kept; null while rows may move. */
  private _held: ReadonlyMap<string, number> | null = null;
  private _deleted: IDisposable | null = null;
  private _isDisposed = false;
}

/** Return true if a view differs from another one. */
export function isOther(view: IJobsView, from: IJobsView | undefined): boolean {
  return from !== undefined && !isEqual(view, from);
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n');
}
