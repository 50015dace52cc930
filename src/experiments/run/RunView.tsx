/** Page of a run: header, inner tabs and the current pane. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { sentences } from '../../common/format';
import { useSignal } from '../../common/hooks';
import { Banner } from '../../ui/Banner';
import { LoadState } from '../../ui/LoadState';
import { IInnerTab, InnerTabs, tabId } from '../../ui/InnerTabs';
import { LazyDataFlow } from '../flow/LazyDataFlow';
import { RunDetail } from '../../api/types';
import { FactsTable, factsOf } from './FactsTable';
import { FilesPane } from './FilesPane';
import { IRunLab } from './pageLab';
import { MetricsPane } from './MetricsPane';
import { RunModel, RunPane } from './model/run';
import { RunHeader } from './RunHeader';

interface IRunViewProps {
  model: RunModel;
  lab: IRunLab;
  trans: TranslationBundle;
}

/** Content of a run's tab. */
export function RunView(props: IRunViewProps): React.JSX.Element {
  const { model, lab, trans } = props;
  useSignal(model.changed, 250);
  const { detail, row, failure } = model;
  if (!detail || !row) {
    return (
      <LoadState
        failure={failure}
        title={
          failure?.status === 404
            ? trans.__('This run was not found')
            : trans.__('The run could not be read')
        }
        waiting={trans.__('Reading the run…')}
        retry={() => void model.load()}
        trans={trans}
      />
    );
  }
  const panel = `jp-t9k-run-${model.id}`;
  const { pane } = model;
  return (
    <div className="jp-t9k-RunView">
      <RunHeader model={model} row={row} lab={lab} trans={trans} />
      {model.isGone && (
        <Banner
          level="warning"
          title={trans.__('The folder of this run was deleted or moved.')}
        >
          {trans.__('The page shows what was read before.')}
        </Banner>
      )}
      {row.status === 'stale' && (
        <Banner
          level="warning"
          title={trans.__('The files of this run say that it runs.')}
        >
          {row.sentence}
        </Banner>
      )}
      {detail.problems.length > 0 && (
        <Banner
          level="warning"
          title={trans.__('Parts of this run could not be read.')}
        >
          {sentences(detail.problems)}
        </Banner>
      )}
      <InnerTabs<RunPane>
        tabs={tabsOf(model, detail, trans)}
        current={pane}
        label={trans.__('Parts of the run')}
        panel={panel}
        select={next => model.show(next)}
      />
      <div
        id={panel}
        className="jp-t9k-RunView-panel"
        role="tabpanel"
        aria-labelledby={tabId(panel, pane)}
        data-pane={pane}
      >
        <Pane {...props} detail={detail} />
      </div>
    </div>
  );
}

function tabsOf(
  model: RunModel,
  detail: RunDetail,
  trans: TranslationBundle
): IInnerTab<RunPane>[] {
  const { parameters, files, checkpoints } = detail;
  const tabs: IInnerTab<RunPane>[] = [
    {
      key: 'metrics',
      label: trans.__('Metrics'),
      count: model.metrics.length
    }
  ];
  if (parameters.length > 0 || detail.run.origin !== 'events') {
    tabs.push({
      key: 'parameters',
      label: trans.__('Parameters'),
      count: parameters.length
    });
  }
  return [
    ...tabs,
    { key: 'environment', label: trans.__('Environment') },
    {
      key: 'files',
      label: trans.__('Files'),
      count: files.length + checkpoints.length
    },
    ...(detail.run.origin === 'recorder'
      ? [{ key: 'flow' as const, label: trans.__('Data flow') }]
      : [])
  ];
}

/** The current pane. */
function Pane(
  props: IRunViewProps & { detail: RunDetail }
): React.JSX.Element | null {
  const { model, lab, detail, trans } = props;
  const { sources } = detail;
  switch (model.pane) {
    case 'metrics':
      return <MetricsPane model={model} lab={lab} trans={trans} />;
    case 'parameters':
      return (
        <FactsTable
          key="parameters"
          parts={[
            {
              title: trans.__('Hyperparameters'),
              source: sources.parameters,
              facts: detail.parameters
            }
          ]}
          filterLabel={trans.__('Filter parameters')}
          none={trans.__('This run has no parameters.')}
          trans={trans}
        />
      );
    case 'environment':
      return (
        <FactsTable
          key="environment"
          parts={[
            {
              title: trans.__('Environment'),
              source: sources.environment,
              facts: factsOf(detail.environment)
            },
            {
              title: trans.__('Git'),
              source: sources.git,
              facts: factsOf(detail.git)
            },
            {
              title: trans.__('Packages'),
              source: sources.packages,
              facts: factsOf(detail.packages)
            }
          ]}
          filterLabel={trans.__('Filter the environment')}
          none={trans.__('Nothing is known about the environment of this run.')}
          trans={trans}
        />
      );
    case 'files':
      return <FilesPane detail={detail} lab={lab} trans={trans} />;
    case 'flow':
      return (
        <LazyDataFlow
          id={model.id}
          api={model.client}
          open={(kind, id) =>
            kind === 'run' ? lab.openRun(id) : lab.openArtifact(id)
          }
          trans={trans}
        />
      );
  }
}
