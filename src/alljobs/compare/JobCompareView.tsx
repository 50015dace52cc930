/** Page of a comparison of jobs: header, table of differences, curves. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { useSignal } from '../../common/hooks';
import { CurvesPane } from '../../experiments/compare/CurvesPane';
import {
  IComparison,
  reportItems
} from '../../experiments/compare/reportItems';
import { Goal } from '../../experiments/types';
import { Banner } from '../../ui/Banner';
import { LinkButton } from '../../ui/Buttons';
import { EmptyState } from '../../ui/EmptyState';
import { LoadState } from '../../ui/LoadState';
import { MoreButton } from '../../ui/MenuButton';
import { ReasonButton } from '../../ui/ReasonButton';
import { errorIcon, tensorBoardIcon } from '../../ui/icons';
import { JobDifferences } from './JobDifferences';
import { JobCompareModel } from './model';
import { ICompared, sectionsOf } from './sections';

/** Columns of the table. */
const MOST_COLUMNS = 8;

/** Functions of the lab that the page uses. */
export interface ICompareLab {
  openJob(id: string): void;
  /** Show the comparison of other jobs. */
  openComparison(ids: readonly string[]): void;
  /** Show folders in one TensorBoard. */
  openTensorBoard(paths: readonly string[]): void;
  /** Let the user choose further jobs; null if the user cancels. */
  askJobs(known: readonly string[]): Promise<string[] | null>;
  /** Copy a text, and confirm it. */
  copy(text: string, done: string): void;
}

interface IJobCompareViewProps {
  model: JobCompareModel;
  lab: ICompareLab;
  trans: TranslationBundle;
}

/** Content of the tab of a comparison of jobs. */
export function JobCompareView(props: IJobCompareViewProps): React.JSX.Element {
  const { model, lab, trans } = props;
  useSignal(model.changed, 250);
  const { compared, failure, ids, runs } = model;
  if (compared === null) {
    return (
      <LoadState
        failure={failure}
        title={trans.__('The jobs could not be read')}
        waiting={trans.__('Reading the jobs…')}
        retry={() => void model.load()}
        trans={trans}
      />
    );
  }
  if (compared.length === 0) {
    return (
      <EmptyState
        icon={errorIcon}
        title={trans.__('The jobs of this comparison were not found')}
      >
        <p>{trans.__('Their records may have been removed.')}</p>
      </EmptyState>
    );
  }
  const shown = shownOf(model, compared);
  return (
    <div className="jp-t9k-CompareView">
      <Header {...props} compared={compared} />
      {compared.length < ids.length && (
        <Banner
          level="warning"
          title={trans._n(
            '%1 job was not found.',
            '%1 jobs were not found.',
            ids.length - compared.length
          )}
        />
      )}
      {model.runsFailure && (
        <Banner
          level="warning"
          title={trans.__('The metrics could not be read.')}
          actions={
            <LinkButton onClick={() => void model.load()}>
              {trans.__('Try now')}
            </LinkButton>
          }
        >
          {model.runsFailure.message}
        </Banner>
      )}
      {shown.length < compared.length && (
        <p className="jp-t9k-CompareView-note jp-t9k-secondary">
          {trans.__('The table shows %1 of the jobs.', shown.length)}
        </p>
      )}
      <div
        className="jp-t9k-CompareView-regions"
        // Without curves, the table has the whole width.
        data-single={(!runs && model.areRunsKnown) || undefined}
      >
        <JobDifferences
          compared={shown}
          goalOf={goalOf(model)}
          styleOf={({ run }) => (run && runs ? runs.styleOf(run) : null)}
          open={lab.openJob}
          remove={
            ids.length > 2
              ? id => lab.openComparison(ids.filter(each => each !== id))
              : null
          }
          trans={trans}
        />
        {runs ? (
          <CurvesPane
            key={runs.ids.join()}
            model={runs}
            runs={compared.flatMap(({ run }) => run ?? [])}
            labels={
              new Map(
                compared.flatMap(({ run, job }) =>
                  run ? [[run.id, job.name]] : []
                )
              )
            }
            trans={trans}
          />
        ) : (
          <div className="jp-t9k-CompareCurves">
            <p className="jp-t9k-MetricsPane-none">
              {model.areRunsKnown
                ? trans.__('The jobs have no recorded metrics.')
                : trans.__('Reading the metrics…')}
            </p>
          </div>
        )}
      </div>
    </div>
  );
}

/** Return the jobs of the table: all if they are few, else those with the best runs. */
function shownOf(
  { runs }: JobCompareModel,
  compared: readonly ICompared[]
): readonly ICompared[] {
  if (compared.length <= MOST_COLUMNS) {
    return compared;
  }
  const best = new Set(runs?.shown.map(({ id }) => id));
  return [...compared]
    .sort(
      (a, b) =>
        Number(best.has(b.run?.id ?? '')) - Number(best.has(a.run?.id ?? ''))
    )
    .slice(0, MOST_COLUMNS);
}

function goalOf({ runs }: JobCompareModel): (metric: string) => Goal {
  return metric => runs?.goalOf(metric) ?? null;
}

interface IHeaderProps extends IJobCompareViewProps {
  compared: readonly ICompared[];
}

/** Number of jobs and the actions on all of them. */
function Header(props: IHeaderProps): React.JSX.Element {
  const { model, lab, compared, trans } = props;
  const folders = [...new Set(compared.flatMap(({ job }) => job.log_dirs))];
  const sweeps = new Set(compared.map(({ job }) => job.sweep?.name ?? null));
  const [sweep] = sweeps;
  return (
    <div className="jp-t9k-CompareView-header">
      <h2 tabIndex={-1}>
        {sweeps.size === 1 && sweep !== null
          ? trans._n(
              '%1 job of sweep %2',
              '%1 jobs of sweep %2',
              compared.length,
              sweep
            )
          : trans._n('%1 job', '%1 jobs', compared.length)}
      </h2>
      <LinkButton
        onClick={() =>
          void lab.askJobs(model.ids).then(more => {
            if (more?.length) {
              lab.openComparison([...model.ids, ...more]);
            }
          })
        }
      >
        {trans.__('Add a job')}
      </LinkButton>
      <span className="jp-t9k-ChartsToolbar-space" />
      <ReasonButton
        icon={tensorBoardIcon}
        problem={
          folders.length > 0
            ? null
            : trans.__('These jobs have no log directory for TensorBoard.')
        }
        onClick={() => lab.openTensorBoard(folders)}
      >
        {trans.__('Open in one TensorBoard')}
      </ReasonButton>
      <MoreButton
        label={trans.__('More actions')}
        items={() => reportItems(comparisonOf(props), lab.copy, trans)}
      />
    </div>
  );
}

/** Return all jobs of the comparison for a report. */
function comparisonOf({ model, compared, trans }: IHeaderProps): IComparison {
  return {
    title: trans._n(
      'Comparison of %1 job',
      'Comparison of %1 jobs',
      compared.length
    ),
    labels: compared.map(({ job }) => job.name),
    subjects: compared.map(({ job }) => ({
      id: job.id,
      sentence: job.reason?.sentence ?? '',
      path: null,
      note: ''
    })),
    sections: showEqual => sectionsOf(compared, goalOf(model), showEqual, trans)
  };
}
