/** Text for the location and the owner of a job, in lists whose jobs differ in them. */
import { EngineInfo, JobSummary } from '../api/types';
import { isTheMachine, labelOf } from './engines';

/** Parts of a location in which the jobs of a list differ. */
export interface ISpread {
  engines: boolean;
  namespaces: boolean;
}

/** Return the parts of the location in which the jobs of a list differ. */
export function spreadOf(jobs: readonly JobSummary[]): ISpread {
  const engines = new Set(jobs.map(({ engine }) => engine));
  const namespaces = new Set(jobs.flatMap(({ namespace }) => namespace || []));
  return { engines: engines.size > 1, namespaces: namespaces.size > 1 };
}

/**
 * Return owner, engine and namespace of a job: “lin · T9k · demo”.
 *
 * The text omits the user's own name, this machine, and parts in which no jobs differ.
 *
 * @param job - The job.
 * @param spread - See `spreadOf`.
 * @param engines - All engines.
 */
export function locationText(
  job: JobSummary,
  spread: ISpread,
  engines: readonly EngineInfo[]
): string {
  return [
    job.mine ? null : job.owner,
    spread.engines && !isTheMachine(engines, job.engine)
      ? labelOf(engines, job.engine)
      : null,
    spread.namespaces ? job.namespace : null
  ]
    .filter(Boolean)
    .join(' · ');
}
