/** Menu of a metric's column. */
import { TranslationBundle } from '@jupyterlab/translation';
import { IMenuItem } from '../../common/menu';
import { ITableColumn } from '../model/columns';
import { ExperimentsModel } from '../model/experiments';
import { MetricMode } from '../model/metrics';
import { askStep } from './dialogs';

/** Return the entries that choose the value of a metric and the direction in which the metric improves. */
export function metricMenu(
  model: ExperimentsModel,
  { name, mode, goal, step }: ITableColumn,
  trans: TranslationBundle
): (IMenuItem | null)[] {
  const { modes, goals, steps } = model.view;
  const modeItem = (
    value: Exclude<MetricMode, 'at'>,
    label: string
  ): IMenuItem => ({
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
    {
      label: trans.__('Value at a step…'),
      toggled: mode === 'at',
      execute: async () => {
        const next = await askStep(name, step ?? 0, trans);
        if (next !== null) {
          model.change({
            modes: { ...modes, [name]: 'at' },
            steps: { ...steps, [name]: next }
          });
        }
      }
    },
    modeItem('step', trans.__('Step of the value')),
    null,
    goalItem('min', trans.__('Lower is better')),
    goalItem('max', trans.__('Higher is better'))
  ];
}
