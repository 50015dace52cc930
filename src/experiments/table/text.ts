/** Texts of the table of runs. */
import { TranslationBundle } from '@jupyterlab/translation';
import { formatCount } from '../../common/format';
import { formatParameter } from '../charts/numbers';
import { ITableColumn } from '../model/columns';
import { ExperimentsModel } from '../model/experiments';
import { Scalar } from '../types';

/** Return the heading of a column: the name that a filter takes, or a word. */
export function columnLabel(
  { kind, name }: Pick<ITableColumn, 'kind' | 'name'>,
  trans: TranslationBundle
): string {
  switch (kind) {
    case 'name':
      return trans.__('Name');
    case 'status':
      return trans.__('Status');
    case 'job':
      return trans.__('Job');
    case 'started':
      return trans.__('Started');
    case 'duration':
      return trans.__('Duration');
    case 'folder':
      return trans.__('Folder');
    case 'tags':
      return trans.__('Tags');
    case 'labels':
      return trans.__('Labels');
    case 'note':
      return trans.__('Note');
    case 'curve':
      return name || trans.__('Curve');
    default:
      return name;
  }
}

/** Return which value of a metric a column shows. */
export function modeText(
  { mode, goal, step }: Pick<ITableColumn, 'mode' | 'goal' | 'step'>,
  trans: TranslationBundle
): string {
  if (mode === 'at') {
    return trans.__('value at step %1', formatCount(step ?? 0));
  }
  if (mode === 'step') {
    return goal === null
      ? trans.__('step of the last value')
      : trans.__('step of the best value');
  }
  if (mode === 'last' || goal === null) {
    return trans.__('last value');
  }
  return goal === 'min'
    ? trans.__('best of a run: lowest')
    : trans.__('best of a run: highest');
}

/** Return a hyperparameter as a text: the shorter of “0.001” and “1e-3”. */
export function formatScalar(value: Scalar | undefined): string {
  if (value === null || value === undefined) {
    return '';
  }
  return typeof value === 'number' ? formatParameter(value) : String(value);
}

/** Return the value of a metric with four digits. */
export function formatMetric(value: number): string {
  if (!Number.isFinite(value)) {
    return Number.isNaN(value) ? 'NaN' : value < 0 ? '-∞' : '∞';
  }
  const size = Math.abs(value);
  if (value === 0 || (size >= 0.001 && size < 10)) {
    return value.toFixed(4);
  }
  return size >= 10 && size < 100_000
    ? value.toFixed(size < 1000 ? 2 : 1)
    : value.toExponential(3).replace('e+', 'e');
}

/** Return a duration as “0:31:09”. */
export function formatClockDuration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (value: number): string => String(value).padStart(2, '0');
  const hours = Math.floor(whole / 3600);
  return `${hours}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}

/** Return the label of `view.group`, by which rows are grouped. */
export function groupText(group: string, trans: TranslationBundle): string {
  switch (group) {
    case '':
      return trans.__('Nothing');
    case 'sweep':
      return trans.__('Sweep');
    case 'folder':
      return trans.__('Folder');
    case 'name':
      return trans.__('Name');
    case 'tag':
      return trans.__('Tag');
    default:
      return group.replace(/^p:/, '');
  }
}

/** Return the label of a folder. */
export function folderText(folder: string, trans: TranslationBundle): string {
  return folder === ''
    ? trans.__('All folders')
    : trans.__('%1 and below', folder);
}

/** Return a number of runs: “46 runs”. */
export function runsText(count: number, trans: TranslationBundle): string {
  return trans._n('%2 run', '%2 runs', count, formatCount(count));
}

/** Return how many runs match the filter: “12 of 46 runs”. */
export function countText(
  {
    view,
    problem,
    runs,
    known
  }: Pick<ExperimentsModel, 'view' | 'problem' | 'runs' | 'known'>,
  trans: TranslationBundle
): string {
  if (view.filter === '') {
    return runsText(known.length, trans);
  }
  return problem
    ? trans.__('not filtered')
    : trans.__(
        '%1 of %2',
        formatCount(runs.length),
        runsText(known.length, trans)
      );
}
