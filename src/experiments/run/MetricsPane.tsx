/** Metrics of a run: charts, folded families, last values. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { useSignal } from '../../common/hooks';
import { Banner } from '../../ui/Banner';
import { LinkButton } from '../../ui/Buttons';
import { EmptyState } from '../../ui/EmptyState';
import { ChartsToolbar } from '../charts/ChartsToolbar';
import { Key } from '../charts/Key';
import { finite, formatValue } from '../charts/numbers';
import { FilterField } from './FilterField';
import { IRunLab } from './pageLab';
import { LastValues } from './LastValues';
import { MetricChart } from './MetricChart';
import { chartsOf, IFamily, splitMetric, typesOf } from './model/metricGroups';
import { RunModel } from './model/run';
import { ReadingRow } from './ReadingRow';
import { saveValues } from './model/values';

interface IMetricsPaneProps {
  model: RunModel;
  lab: IRunLab;
  trans: TranslationBundle;
}

/** Charts of all metrics of a run. */
export function MetricsPane(props: IMetricsPaneProps): React.JSX.Element {
  const { model, lab, trans } = props;
  const { curves, metrics } = model;
  const [filter, setFilter] = React.useState('');
  const [hidden, setHidden] = React.useState<ReadonlySet<string>>(new Set());
  useSignal(curves.changed);
  const types = React.useMemo(() => typesOf(metrics), [metrics]);
  const shown = React.useMemo(() => {
    const wanted = filter.trim().toLowerCase();
    return metrics.filter(
      name =>
        name.toLowerCase().includes(wanted) &&
        !hidden.has(splitMetric(name).type)
    );
  }, [metrics, filter, hidden]);
  const { charts, families } = React.useMemo(() => chartsOf(shown), [shown]);
  const save = (names: readonly string[]): void =>
    void saveValues(model, names, trans).catch(error => lab.notifyError(error));

  if (metrics.length === 0) {
    return (
      <EmptyState title={trans.__('This run has no metrics')}>
        <p>
          {trans.__(
            'Metrics come from the recorder, from TensorBoard event files, or from progress lines.'
          )}
        </p>
      </EmptyState>
    );
  }
  return (
    <div className="jp-t9k-MetricsPane">
      <ChartsToolbar
        look={model.look}
        setLook={look => model.setLook({ ...model.look, ...look })}
        asTable={model.look.asTable}
        setAsTable={asTable => model.setLook({ ...model.look, asTable })}
        trans={trans}
        before={
          <>
            <FilterField
              label={trans._n(
                'Filter %1 metric',
                'Filter %1 metrics',
                metrics.length
              )}
              value={filter}
              onChange={setFilter}
            />
            {types.length > 1 && (
              <TypeSwitches
                types={types}
                hidden={hidden}
                setHidden={setHidden}
                trans={trans}
              />
            )}
          </>
        }
      />
      <ReadingRow {...props} />
      {curves.failure && (
        <Banner
          level="warning"
          title={trans.__('The curves could not be read.')}
          actions={
            <LinkButton onClick={() => curves.refresh()}>
              {trans.__('Try now')}
            </LinkButton>
          }
        >
          {curves.failure.message}
        </Banner>
      )}
      {shown.length === 0 && (
        <p className="jp-t9k-MetricsPane-none">
          {trans.__('No metric matches the filter.')}
        </p>
      )}
      <div className="jp-t9k-Charts">
        {charts.map(chart => (
          <MetricChart
            key={chart.title}
            {...{ model, chart, types, trans }}
            saveValues={save}
          />
        ))}
      </div>
      {families.map(family => (
        <Family
          key={family.prefix}
          {...{ model, family, types, trans }}
          saveValues={save}
        />
      ))}
      <details className="jp-t9k-Fold" open>
        <summary>
          <strong>{trans.__('Last values')}</strong>{' '}
          <span className="jp-t9k-caption">
            {trans._n('of %1 metric', 'of %1 metrics', shown.length)}
          </span>
        </summary>
        <LastValues model={model} metrics={shown} trans={trans} />
      </details>
    </div>
  );
}

/** Buttons that show or hide the metrics of a type. */
function TypeSwitches(props: {
  types: readonly string[];
  hidden: ReadonlySet<string>;
  setHidden(hidden: ReadonlySet<string>): void;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { types, hidden, setHidden, trans } = props;
  return (
    <span
      className="jp-t9k-Segments"
      role="group"
      aria-label={trans.__('Types of metrics')}
    >
      {types.map((type, index) => (
        <button
          key={type}
          type="button"
          aria-pressed={!hidden.has(type)}
          onClick={() => {
            const next = new Set(hidden);
            if (!next.delete(type)) {
              next.add(type);
            }
            setHidden(next);
          }}
        >
          <Key style={index} /> {type || trans.__('without type')}
        </button>
      ))}
    </span>
  );
}

interface IFamilyProps {
  model: RunModel;
  family: IFamily;
  types: readonly string[];
  saveValues(metrics: readonly string[]): void;
  trans: TranslationBundle;
}

/** Metrics of one prefix, folded into a line with the lowest value. */
function Family(props: IFamilyProps): React.JSX.Element {
  const { model, family, trans } = props;
  const [isOpen, setIsOpen] = React.useState(false);
  const { charts, prefix } = family;
  const names = charts.slice(0, 5).map(({ title }) => title);
  const lowest = charts
    .flatMap(({ metrics }) => metrics)
    .flatMap(({ name }) => {
      const value = finite(model.summary(name)?.last);
      return value === null ? [] : [{ name, value }];
    })
    .sort((a, b) => a.value - b.value)[0];
  return (
    <details
      className="jp-t9k-Fold"
      open={isOpen}
      onToggle={event => setIsOpen(event.currentTarget.open)}
    >
      <summary>
        <strong>{prefix}</strong>{' '}
        <span className="jp-t9k-caption">
          {trans.__(
            '%1 metrics: %2',
            charts.length,
            [...names, ...(charts.length > names.length ? ['…'] : [])].join(
              ', '
            )
          )}
          {lowest &&
            ` · ${trans.__('lowest %1 %2', lowest.name, formatValue(lowest.value))}`}
        </span>
      </summary>
      {isOpen && (
        <div className="jp-t9k-Charts">
          {charts.map(chart => (
            <MetricChart
              key={chart.title}
              model={model}
              chart={chart}
              types={props.types}
              saveValues={props.saveValues}
              trans={trans}
            />
          ))}
        </div>
      )}
    </details>
  );
}
