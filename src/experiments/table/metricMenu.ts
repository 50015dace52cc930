/** Menu of a metric's column. */
import { TranslationBundle } from '@jupyterlab/translation';
import { IMenuItem } from '../../common/menu';
import { ITableColumn } from '../model/columns';
import { ExperimentsModel } from '../model/experiments';
import { MetricMode } from '../model/metrics';

/** Return the entries that choose the value of a metric and the direction in which the metric improves. */
export function metricMenu(
  model: ExperimentsModel,
  { name, mode, goal }: ITableColumn,
  trans: TranslationBundle
): (IMenuItem | null)[] {
  const { modes, goals } = model.view;
  const modeItem = (value: MetricMode, label: string): IMenuItem => ({
    label,
    toggled: mode === value,
    disabled:
      value === 'best' && goal === null
        ? trans.__('First choose if lower or higher is better.')
        : null,
    execute: () => model.change({ modes: { ...modes, [name]: value } })
  });
  const goalItem = (value: 'min' | 'max', label: string): IMenuItem => ({
    label,
    toggled: goal === value,
    execute: () => model.change({ goals: { ...goals, [name]: value } })
  });
  return [
    modeItem('best', trans.__('Best value of a run')),
    modeItem('last', trans.__('Last value')),
    modeItem('step', trans.__('Step of the value')),
    null,
    goalItem('min', trans.__('Lower is better')),
    goalItem('max', trans.__('Higher is better'))
  ];
}
