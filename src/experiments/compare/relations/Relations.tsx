/** Relations of parameters and metrics of runs: parallel coordinates or a scatter plot. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { openMenu } from '../../../common/menu';
import { Button, LinkButton } from '../../../ui/Buttons';
import { Segments } from '../../../ui/Segments';
import { IRunLab } from '../../run/pageLab';
import { RunRow } from '../../../api/types';
import { Scalar } from '../../types';
import { axisOf, Brush, filterOf, IAxis, isWithin } from './axes';
import { metricRows, parameterRows } from '../differences';
import { CompareModel } from '../model';
import { ParallelCoordinates } from './ParallelCoordinates';
import { Scatter } from './Scatter';

/** Axes at first. */
const FIRST_PARAMETERS = 6;
const FIRST_METRICS = 2;

/** Runs whose relations are drawn: those of a comparison, or those of the table. */
export type RelatedRuns = Pick<
  CompareModel,
  'others' | 'metric' | 'goalOf' | 'styleOf'
>;

interface IRelationsProps {
  model: RelatedRuns;
  runs: readonly RunRow[];
  labels: ReadonlyMap<string, string>;
  lab: Pick<IRunLab, 'openRuns'>;
  trans: TranslationBundle;
}

/** The region below table and curves. */
export function Relations(props: IRelationsProps): React.JSX.Element {
  const { model, runs, lab, trans } = props;
  const { others } = model;
  const [kind, setKind] = React.useState<'parallel' | 'scatter'>('parallel');
  const [brushes, setBrushes] = React.useState<ReadonlyMap<string, Brush>>(
    new Map()
  );
  const all = [...runs, ...others];
  const available = axesOf(all, model);
  const [chosen, setChosen] = React.useState<readonly string[] | null>(null);
  const keys = chosen ?? firstAxes(available, model);
  const axes = keys.flatMap(
    key => available.find(axis => axis.key === key) ?? []
  );
  const brushed = axes.filter(({ key }) => brushes.has(key));
  const within = all.filter(run => isWithin(run, axes, brushes)).length;
  const move = (key: string, to: number): void => {
    const rest = keys.filter(each => each !== key);
    setChosen([...rest.slice(0, to), key, ...rest.slice(to)]);
  };
  return (
    <section
      className="jp-t9k-Relations"
      aria-label={trans.__('Relations of parameters and metrics')}
    >
      <div className="jp-t9k-ChartsToolbar">
        <Segments<'parallel' | 'scatter'>
          aria-label={trans.__('Kind of chart')}
          segments={[
            { value: 'parallel', label: trans.__('Parallel coordinates') },
            { value: 'scatter', label: trans.__('Scatter') }
          ]}
          value={kind}
          onChange={setKind}
        />
        <span className="jp-t9k-secondary">
          {others.length > 0 &&
            trans._n(
              '%1 other run in grey',
              '%1 other runs in grey',
              others.length
            )}
        </span>
        <span className="jp-t9k-ChartsToolbar-space" />
        {kind === 'parallel' && brushed.length > 0 && (
          <>
            <span role="status">
              {trans.__('%1 of %2 runs', within, all.length)}
            </span>
            <LinkButton onClick={() => lab.openRuns(filterOf(axes, brushes))}>
              {trans.__('Keep as a filter')}
            </LinkButton>
            <LinkButton onClick={() => setBrushes(new Map())}>
              {trans.__('Clear')}
            </LinkButton>
          </>
        )}
        {kind === 'parallel' && (
          <Button
            aria-haspopup="menu"
            onClick={({ currentTarget }) =>
              openMenu(
                currentTarget,
                available.map(({ key, name }) => ({
                  label: name,
                  toggled: keys.includes(key),
                  execute: () =>
                    setChosen(
                      keys.includes(key)
                        ? keys.filter(each => each !== key)
                        : [...keys, key]
                    )
                }))
              )
            }
          >
            {trans.__('Axes')}
          </Button>
        )}
      </div>
      {kind === 'scatter' ? (
        <Scatter
          {...props}
          parameters={available.filter(({ group }) => group === 'parameters')}
          metrics={byMain(
            available.filter(({ group }) => group === 'metrics'),
            model
          )}
        />
      ) : axes.length > 0 ? (
        <ParallelCoordinates
          {...{ ...props, axes, brushes, setBrushes, move }}
        />
      ) : (
        <p className="jp-t9k-MetricsPane-none">
          {trans.__('Choose parameters and metrics in the menu “Axes”.')}
        </p>
      )}
    </section>
  );
}

/** Return the axes that runs can have: parameters that differ, then metrics. */
function axesOf(runs: readonly RunRow[], { goalOf }: RelatedRuns): IAxis[] {
  const parameters = parameterRows(runs)
    .filter(({ values }) => isVaried(values))
    .map(({ name }) => axisOf(name, 'parameters', runs, goalOf));
  const metrics = metricRows(runs, goalOf).map(({ name }) =>
    axisOf(name, 'metrics', runs, goalOf)
  );
  return [...parameters, ...metrics];
}

/** Return true if runs have different values; a run without the value tells nothing. */
function isVaried(values: readonly (Scalar | undefined)[]): boolean {
  return new Set(values.filter(value => value !== undefined)).size > 1;
}

/** Return metrics with the main metric first, then those of validation. */
function byMain(metrics: readonly IAxis[], model: RelatedRuns): IAxis[] {
  const { metric } = model;
  const rank = ({ name, goal }: IAxis): number =>
    name === metric ? 0 : goal === null ? 3 : /^train/i.test(name) ? 2 : 1;
  return [...metrics].sort((a, b) => rank(a) - rank(b));
}

/** Return the keys of the axes at first: the main metric is the last axis. */
function firstAxes(available: readonly IAxis[], model: RelatedRuns): string[] {
  const parameters = available
    .filter(({ group }) => group === 'parameters')
    .slice(0, FIRST_PARAMETERS);
  const metrics = byMain(
    available.filter(({ group }) => group === 'metrics'),
    model
  ).slice(0, FIRST_METRICS);
  return [...parameters, ...metrics.reverse()].map(({ key }) => key);
}
