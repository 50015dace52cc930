/** Page of a comparison: header, table of differences, curves, relations. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { useSignal } from '../../common/hooks';
import { Banner } from '../../ui/Banner';
import { Button, LinkButton } from '../../ui/Buttons';
import { EmptyState } from '../../ui/EmptyState';
import { LoadState } from '../../ui/LoadState';
import { MoreButton } from '../../ui/MenuButton';
import { ReasonButton } from '../../ui/ReasonButton';
import { errorIcon, tensorBoardIcon } from '../../ui/icons';
import { copyAsPandas, namesOf } from '../run/actions';
import { tensorBoardPaths } from '../run/model/tensorBoard';
import { IRunLab } from '../run/pageLab';
import { RunRow } from '../../api/types';
import { CurvesPane } from './CurvesPane';
import { DifferencesTable } from './DifferencesTable';
import { CompareModel, MOST_SHOWN } from './model';
import { Relations } from './relations/Relations';
import { IComparison, reportItems } from './reportItems';
import { sectionsOf } from './sections';

interface ICompareViewProps {
  model: CompareModel;
  lab: IRunLab;
  trans: TranslationBundle;
}

/** Content of a comparison's tab. */
export function CompareView(props: ICompareViewProps): React.JSX.Element {
  const { model, lab, trans } = props;
  useSignal(model.changed, 250);
  const { runs, failure, ids } = model;
  const labels = React.useMemo(
    () =>
      new Map(namesOf(runs ?? []).map((name, i) => [runs?.[i].id ?? '', name])),
    [runs]
  );
  if (runs === null) {
    return (
      <LoadState
        failure={failure}
        title={trans.__('The runs could not be read')}
        waiting={trans.__('Reading the runs…')}
        retry={() => void model.load()}
        trans={trans}
      />
    );
  }
  if (runs.length === 0) {
    return (
      <EmptyState
        icon={errorIcon}
        title={trans.__('The runs of this comparison were not found')}
      >
        <p>{trans.__('They may have been deleted or moved.')}</p>
      </EmptyState>
    );
  }
  const { shown } = model;
  const shownLabels = shown.map(({ id }) => labels.get(id) ?? id);
  const isMany = runs.length > MOST_SHOWN;
  const relations = (
    <Relations {...{ model, lab, trans, labels }} runs={shown} />
  );
  return (
    <div className="jp-t9k-CompareView">
      <Header {...props} runs={runs} labels={labels} />
      {runs.length < ids.length && (
        <Banner
          level="warning"
          title={trans._n(
            '%1 run was not found.',
            '%1 runs were not found.',
            ids.length - runs.length
          )}
        />
      )}
      {isMany && (
        <p className="jp-t9k-CompareView-note jp-t9k-secondary">
          {model.metric === null
            ? trans.__('The table shows the first %1 runs.', MOST_SHOWN)
            : trans.__(
                'The table shows the best %1 runs by %2.',
                MOST_SHOWN,
                model.metric
              )}
        </p>
      )}
      {isMany && relations}
      <div className="jp-t9k-CompareView-regions">
        <DifferencesTable
          {...{ model, lab, trans }}
          runs={shown}
          labels={shownLabels}
        />
        <CurvesPane {...{ model, trans, runs, labels }} />
      </div>
      {!isMany && relations}
    </div>
  );
}

interface IHeaderProps extends ICompareViewProps {
  runs: readonly RunRow[];
  labels: ReadonlyMap<string, string>;
}

/** Number of runs and the actions on all of them. */
function Header(props: IHeaderProps): React.JSX.Element {
  const { model, lab, runs, trans } = props;
  const paths = tensorBoardPaths(runs, lab);
  return (
    <div className="jp-t9k-CompareView-header">
      <h2 tabIndex={-1}>{trans._n('%1 run', '%1 runs', runs.length)}</h2>
      <LinkButton onClick={() => void addRuns(props)}>
        {trans.__('Add a run')}
      </LinkButton>
      <span className="jp-t9k-ChartsToolbar-space" />
      <ReasonButton
        icon={tensorBoardIcon}
        problem={
          paths.length > 0
            ? null
            : trans.__('The runs have no TensorBoard event files.')
        }
        onClick={() => lab.openTensorBoard(paths)}
      >
        {trans.__('Open in one TensorBoard')}
      </ReasonButton>
      <Button onClick={() => copyAsPandas(runs, lab, trans)}>
        {trans.__('Copy as pandas')}
      </Button>
      <MoreButton
        label={trans.__('More actions')}
        items={() => [
          ...reportItems(comparisonOf(props), lab.copy, trans),
          null,
          {
            label: trans.__('Copy Address'),
            execute: () =>
              lab.copy(
                lab.address('comparison', model.ids),
                trans.__('The address of the comparison was copied.')
              )
          }
        ]}
      />
    </div>
  );
}

/** Let the user choose further runs of the folder. */
async function addRuns({ model, lab, trans }: IHeaderProps): Promise<void> {
  const others = model.candidates;
  const names = namesOf(others);
  const chosen = await lab.askRuns(
    trans.__('Add runs to the comparison'),
    names
  );
  if (chosen?.length) {
    lab.openComparison([
      ...model.ids,
      ...chosen.map(name => others[names.indexOf(name)].id)
    ]);
  }
}

/** Return all runs of the comparison for a report. */
function comparisonOf(props: IHeaderProps): IComparison {
  const { model, runs, labels, trans } = props;
  return {
    title: trans._n(
      'Comparison of %1 run',
      'Comparison of %1 runs',
      runs.length
    ),
    labels: runs.map(({ id }) => labels.get(id) ?? id),
    subjects: runs,
    sections: showEqual => sectionsOf(runs, model.goalOf, showEqual, trans)
  };
}
