/** Model of the table of runs: the shown rows, their order, and the selection. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { memoized } from '../../common/memo';
import { RunRow } from '../../api/types';
import { allColumns, ITableColumn, NAME_COLUMN, shownColumns } from './columns';
import { fieldsOf, IMetricChoices } from './fields';
import { Fields } from '../../common/filter/fields';
import { IFilter, readFilter } from '../../common/filter/compile';
import { FilterProblem } from '../../common/filter/parse';
import { folderOfRun } from './folders';
import {
  bestRuns,
  groupRuns,
  keepOrder,
  rowsOfGroups,
  rowsOfRuns,
  sortRuns,
  TableRow
} from './rows';
import { RunStore } from './runStore';
import { StepValues } from './stepValues';
import { Selection } from '../../common/grid/selection';
import { ITableView } from './view';

/** Runs, views and sweeps of the model. */
interface IExperimentsOptions {
  store: RunStore;
  view: ITableView;
  /** Views that the user saved, by their names. */
  views: Readonly<Record<string, ITableView>>;
  /** Values of metrics at steps. */
  steps: StepValues;
  /** Returns the name of the sweep that a run belongs to. */
  sweepOf(run: RunRow): string | null;
}

type IChoices = IMetricChoices & Pick<RunStore, 'columns'>;

/** The table of runs. All lists keep their identity until their content changes. */
export class ExperimentsModel implements IDisposable {
  constructor(private readonly _options: IExperimentsOptions) {
    this._view = _options.view;
    this._views = _options.views;
    this.store = _options.store;
    this.store.changed.connect(this._onRuns, this);
    _options.steps.changed.connect(() => this._changed.emit());
  }

  readonly store: RunStore;

  /** Emitted when anything shown changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this.store.isDisposed;
  }

  dispose(): void {
    this.store.dispose();
    this._options.steps.dispose();
    Signal.clearData(this);
  }

  /** Settings of the table. */
  get view(): ITableView {
    return this._view;
  }

  set view(view: ITableView) {
    this._view = view;
    this._held = null;
    this._chooseRuns();
    this._changed.emit();
  }

  /** Views that were saved under names. */
  get views(): Readonly<Record<string, ITableView>> {
    return this._views;
  }

  set views(views: Readonly<Record<string, ITableView>>) {
    this._views = views;
    this._changed.emit();
  }

  /** Change some settings. */
  change(changes: Partial<ITableView>): void {
    this.view = { ...this._view, ...changes };
  }

  /** Fields that a filter can name. */
  get fields(): Fields<RunRow> {
    return this._readFields(this._choices);
  }

  /** All columns that the table can show. */
  get allColumns(): readonly ITableColumn[] {
    return this._readAll(this._choices);
  }

  /** Columns that the table shows, after the names. */
  get columns(): readonly ITableColumn[] {
    return this._readShown({
      all: this.allColumns,
      keys: this._view.columns
    });
  }

  /** The column of the first shown metric; groups show its best and mean values. */
  get metric(): ITableColumn | undefined {
    return this.columns.find(({ kind }) => kind === 'metric');
  }

  /** Runs without a filter. */
  get known(): readonly RunRow[] {
    return this._readKnown({
      runs: this.store.runs,
      archived: this._view.archived
    });
  }

  /** The error of the filter; null if the filter can be applied. */
  get problem(): FilterProblem | null {
    return this._filter.problem;
  }

  /** The filter that is applied: the last one without an error; null if all runs are shown. */
  get filter(): IFilter<RunRow> | null {
    return this._filter.filter;
  }

  /** Runs that match the filter, in order. */
  get runs(): readonly RunRow[] {
    const { order } = this._view;
    const columns = [NAME_COLUMN, ...this.allColumns];
    // Each key that is typed changes the filter, and sorting takes longer than filtering.
    const sorted = this._readRuns({
      runs: this._readSorted({
        runs: this.known,
        column: columns.find(({ key }) => key === order.key),
        order
      }),
      filter: this.filter
    });
    const held = this._held;
    return held === null || held === sorted
      ? sorted
      : this._readHeld({ sorted, held });
  }

  /** Rows of the table. */
  get rows(): readonly TableRow[] {
    return this._readRows({
      runs: this.runs,
      group: this._view.group,
      metric: this.metric,
      folded: this._folded
    });
  }

  /** Ids of the runs with the best values, by the keys of the columns. */
  get best(): ReadonlyMap<string, string> {
    return this._readBest({ runs: this.runs, columns: this.columns });
  }

  /** The selection; it may have runs that the filter hides. */
  get selection(): Selection {
    return this._selection;
  }

  set selection(selection: Selection) {
    this._selection = selection;
    this._changed.emit();
  }

  /** Selected runs that are shown, in the order of the table. */
  get selected(): readonly RunRow[] {
    return this._readSelected({ runs: this.runs, selection: this._selection });
  }

  /** Open or fold a group. */
  toggleGroup(label: string | null): void {
    const folded = new Set(this._folded);
    if (!folded.delete(label)) {
      folded.add(label);
    }
    this._folded = folded;
    this._changed.emit();
  }

  /** Keep the order of the rows while the pointer or the focus is in the table. */
  hold(isHeld: boolean): void {
    if (isHeld === (this._held !== null)) {
      return;
    }
    const held = this.runs;
    this._held = isHeld ? held : null;
    if (this.runs !== held) {
      this._changed.emit();
    }
  }

  private get _choices(): IChoices {
    const { modes, goals, steps } = this._view;
    const { columns } = this.store;
    const { read: readStep } = this._options.steps;
    return { columns, modes, goals, steps, readStep };
  }

  private get _filter(): {
    filter: IFilter<RunRow> | null;
    problem: FilterProblem | null;
  } {
    return this._readFilter({
      text: this._view.filter,
      fields: this.fields,
      isEmpty: this.store.runs.length === 0
    });
  }

  /** Read the text of the filter. After an error, the last text that could be read still applies. */
  private _parse(
    text: string,
    fields: Fields<RunRow>
  ): { filter: IFilter<RunRow> | null; problem: FilterProblem | null } {
    try {
      const filter = readFilter(text, fields);
      this._lastFilter = text;
      return { filter, problem: null };
    } catch (problem) {
      if (!(problem instanceof FilterProblem)) {
        throw problem;
      }
      const last = this._lastFilter;
      const isOther = last !== '' && last !== text;
      const { filter } = isOther ? this._parse(last, fields) : { filter: null };
      return { filter, problem };
    }
  }

  private _labelsOf(group: string): (run: RunRow) => readonly string[] {
    if (group.startsWith('p:')) {
      const name = group.slice(2);
      return ({ parameters }) =>
        Object.hasOwn(parameters, name) ? [String(parameters[name])] : [];
    }
    switch (group) {
      case 'sweep':
        return run => {
          const sweep = this._options.sweepOf(run);
          return sweep === null ? [] : [sweep];
        };
      case 'folder':
        return run => [folderOfRun(run.path)];
      case 'tag':
        return run => run.tags;
      default:
        return run => [run.name];
    }
  }

  private _onRuns(): void {
    this._chooseRuns();
    this._changed.emit();
  }

  /** Ask for the runs of the chosen folder, with the curves that the table shows. */
  private _chooseRuns(): void {
    const { columns, filter, store } = this;
    const curve = columns.find(({ kind }) => kind === 'curve');
    const named = new Set([
      ...columns.flatMap(({ kind, name }) => (kind === 'metric' ? [name] : [])),
      ...(filter?.fields ?? []).flatMap(({ group, name }) =>
        group === 'metrics' ? [name] : []
      )
    ]);
    store.choose({
      folder: this._view.folder,
      metrics: [...named].sort(),
      curves: curve?.name ? [curve.name] : []
    });
    const fields = new Set(filter?.fields.map(({ name }) => name));
    this._options.steps.want(
      this.allColumns.flatMap(column => {
        const { key, name, step } = column;
        const isUsed =
          columns.some(shown => shown.key === key) ||
          fields.has(name) ||
          this._view.order.key === key;
        return step !== null && isUsed ? [{ metric: name, step }] : [];
      }),
      this.known
    );
  }

  private readonly _readFields = memoized(({ columns, ...choices }: IChoices) =>
    fieldsOf(columns, choices)
  );
  private readonly _readAll = memoized(({ columns, ...choices }: IChoices) =>
    allColumns(columns, choices)
  );
  private readonly _readShown = memoized(
    (of: {
      all: readonly ITableColumn[];
      keys: readonly string[] | null;
    }): readonly ITableColumn[] => shownColumns(of.all, of.keys)
  );
  private readonly _readKnown = memoized(
    (of: { runs: readonly RunRow[]; archived: boolean }) =>
      of.archived ? of.runs : of.runs.filter(run => !run.archived)
  );
  private readonly _readFilter = memoized(
    (of: { text: string; fields: Fields<RunRow>; isEmpty: boolean }) =>
      of.isEmpty
        ? { filter: null, problem: null }
        : this._parse(of.text, of.fields)
  );
  private readonly _readSorted = memoized(
    (of: {
      runs: readonly RunRow[];
      column: ITableColumn | undefined;
      order: ITableView['order'];
    }): readonly RunRow[] => sortRuns(of.runs, of.column, of.order)
  );
  private readonly _readRuns = memoized(
    ({
      runs,
      filter
    }: {
      runs: readonly RunRow[];
      filter: IFilter<RunRow> | null;
    }): readonly RunRow[] => (filter ? runs.filter(filter.matches) : runs)
  );
  private readonly _readHeld = memoized(
    (of: {
      sorted: readonly RunRow[];
      held: readonly RunRow[];
    }): readonly RunRow[] => keepOrder(of.sorted, of.held)
  );
  private readonly _readRows = memoized(
    (of: {
      runs: readonly RunRow[];
      group: string;
      metric: ITableColumn | undefined;
      folded: ReadonlySet<string | null>;
    }): readonly TableRow[] =>
      of.group === ''
        ? rowsOfRuns(of.runs)
        : rowsOfGroups(
            groupRuns(of.runs, this._labelsOf(of.group), of.metric),
            label => of.folded.has(label)
          )
  );
  private readonly _readBest = memoized(
    (of: { runs: readonly RunRow[]; columns: readonly ITableColumn[] }) =>
      bestRuns(of.runs, of.columns)
  );
  private readonly _readSelected = memoized(
    (of: { runs: readonly RunRow[]; selection: Selection }) =>
      of.runs.filter(({ id }) => of.selection.ids.has(id))
  );

  private readonly _changed = new Signal<this, void>(this);
  private _view: ITableView;
  private _views: Readonly<Record<string, ITableView>>;
  private _selection = new Selection();
  private _folded: ReadonlySet<string | null> = new Set();
  /** Runs in the order that is kept; null while rows may move. */
  private _held: readonly RunRow[] | null = null;
  private _lastFilter = '';
}
