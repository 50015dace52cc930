/** Sections of the table that compares jobs. */
import { TranslationBundle } from '@jupyterlab/translation';
import { Job, RunRow } from '../../api/types';
import { serverNow } from '../../common/clock';
import { shownPath } from '../../common/contentsPath';
import { formatDuration, listed } from '../../common/format';
import { optionsOf } from '../../common/options';
import {
  differ,
  GoalOf,
  IDifference,
  metricRows,
  rowsOf
} from '../../experiments/compare/differences';
import { ITitledSection } from '../../experiments/compare/report';
import { Scalar } from '../../experiments/types';
import { goalOf as goalOfName } from '../model/columns';
import { durationOf, gpuHours, gpusOf, waitedOf } from '../model/facts';
import { gpuHoursText, timeText } from '../view/text';

/** The compared jobs with their runs, in the same order. */
export interface ICompared {
  job: Job;
  /** The run with the job's metrics; null if there is none. */
  run: RunRow | null;
}

/**
 * Return the sections of a comparison: arguments, results, facts about the runs, code.
 *
 * @param compared - The jobs.
 * @param goalOf - Returns the direction of a metric of a run.
 * @param showEqual - True to return also rows whose values are equal.
 * @param trans - Texts.
 */
export function sectionsOf(
  compared: readonly ICompared[],
  goalOf: GoalOf,
  showEqual: boolean,
  trans: TranslationBundle
): ITitledSection[] {
  const jobs = compared.map(({ job }) => job);
  const wanted = (rows: IDifference[]): IDifference[] =>
    rows.filter(({ differs }) => differs || showEqual || jobs.length < 2);
  const args = argumentRows(jobs, trans);
  const results = resultRows(compared, goalOf);
  const facts = factRows(jobs, trans);
  const code = codeRows(jobs, trans);
  const captionOf = (rows: IDifference[], otherwise: string): string =>
    rows.length === 0 || jobs.length < 2 || rows.some(row => row.differs)
      ? otherwise
      : trans.__('the same for all jobs');
  const different = args.filter(({ differs }) => differs).length;
  return [
    {
      key: 'arguments',
      title: trans.__('Arguments'),
      caption: trans.__('%1 of %2 differ', different, args.length),
      rows: wanted(args)
    },
    {
      key: 'results',
      title: trans.__('Results'),
      caption: captionOf(
        results,
        trans.__(
          'best value of each job; the last value if no direction is known'
        )
      ),
      rows: wanted(results)
    },
    {
      key: 'run',
      title: trans.__('Run'),
      caption: captionOf(facts, ''),
      rows: wanted(facts)
    },
    {
      key: 'code',
      title: trans.__('Code'),
      caption: captionOf(code, ''),
      rows: wanted(code)
    }
  ];
}

function argumentRows(
  jobs: readonly Job[],
  trans: TranslationBundle
): IDifference[] {
  return rowsOf(
    jobs.map(({ spec }) =>
      optionsOf(spec.args, number => trans.__('argument %1', number))
    )
  );
}

/** Metrics of the runs; for jobs without a run, the last values in the log. */
function resultRows(
  compared: readonly ICompared[],
  goalOf: GoalOf
): IDifference[] {
  const withRuns = compared.flatMap(({ run }) => run ?? []);
  if (withRuns.length === compared.length) {
    return metricRows(withRuns, goalOf);
  }
  const names = new Set(
    compared.flatMap(({ job }) => Object.keys(job.progress?.metrics ?? {}))
  );
  return [...names].map(name => {
    const values = compared.map(({ job }) => job.progress?.metrics[name]);
    const goal = goalOfName(name);
    const known = values.filter(value => value !== undefined);
    const best =
      goal === null || known.length < 2
        ? null
        : goal === 'min'
          ? Math.min(...known)
          : Math.max(...known);
    return {
      name,
      values,
      best: values.flatMap((value, at) => (value === best ? [at] : [])),
      differs: differ(values),
      isMetric: true
    };
  });
}

function factRows(
  jobs: readonly Job[],
  trans: TranslationBundle
): IDifference[] {
  const now = serverNow();
  const duration = (seconds: number | null): string | undefined =>
    seconds === null ? undefined : formatDuration(seconds, trans);
  const row = (
    name: string,
    value: (job: Job) => Scalar | undefined
  ): IDifference => {
    const values = jobs.map(value);
    return { name, values, best: [], differs: differ(values) };
  };
  const rows = [
    row(trans.__('Duration'), job => duration(durationOf(job, now))),
    row(
      trans.__('GPU-hours'),
      job => gpuHoursText(gpuHours(job, now)) || undefined
    ),
    row(trans.__('GPUs'), job => gpusOf(job) ?? undefined),
    row(trans.__('Replicas'), job => job.replicas),
    row(trans.__('Waited'), job => duration(waitedOf(job, now))),
    row(trans.__('Restarts'), job => job.restarts),
    row(trans.__('Node'), job => listed(job.nodes) || undefined),
    row(trans.__('Started'), job => timeText(job.started_at, trans)),
    row(trans.__('Ended'), job => timeText(job.ended_at, trans))
  ];
  return rows.filter(({ values }) =>
    values.some(value => value !== undefined && value !== '')
  );
}

function codeRows(
  jobs: readonly Job[],
  trans: TranslationBundle
): IDifference[] {
  return rowsOf(
    jobs.map(({ spec, working_dir_path }) => {
      const { entrypoint, runtime, source, working_dir, env } = spec;
      const facts: Record<string, string | null | undefined> = {
        // The end of a long path, which tells jobs apart, would be cut off.
        [trans.__('Entrypoint')]: shownPath(entrypoint.value, working_dir),
        [trans.__('Working directory')]: working_dir_path || working_dir,
        [trans.__('Image')]: runtime.image,
        [trans.__('Training runtime')]: runtime.training_runtime?.name,
        [trans.__('Kernel')]: runtime.kernel,
        [trans.__('Source')]: source && sourceText(source),
        ...Object.fromEntries(env.map(({ name, value }) => [name, value]))
      };
      return Object.fromEntries(
        Object.entries(facts).filter(
          (fact): fact is [string, string] => !!fact[1]
        )
      );
    })
  );
}

/** Return the code of a job: address and commit of a repository, or folder and content of a snapshot. */
function sourceText(source: NonNullable<Job['spec']['source']>): string {
  const [place, version] =
    source.kind === 'git'
      ? [source.address, source.commit?.id ?? source.ref]
      : [source.folder, source.taken?.digest];
  return version ? `${place} @ ${version.slice(0, 12)}` : place;
}
