/** Conditions of a view of the table of jobs. */
import { JobSummary } from '../../api/types';
import { stateOf } from '../../jobs/phase';
import { ownerOf } from './columns';
import { beginOf, IJobsView } from './view';

/** Returns true if a job meets a condition. */
export type Test = (job: JobSummary) => boolean;

/** Return the conditions of a view that a job must meet. */
export function testsOf(
  view: IJobsView,
  filter: Test | null,
  now: number
): Test[] {
  const { states, owners, engines, since, mine } = view;
  const tests: Test[] = [];
  if (states.length > 0) {
    const all = new Set(states);
    tests.push(job => all.has(stateOf(job)));
  }
  if (owners.length > 0) {
    const all = new Set(owners);
    tests.push(job => all.has(ownerOf(job) ?? ''));
  }
  if (mine) {
    tests.push(job => job.mine);
  }
  if (engines.length > 0) {
    const all = new Set(engines);
    tests.push(job => all.has(job.engine));
  }
  if (since) {
    const begin = beginOf(since, now);
    tests.push(job => job.created_at >= begin);
  }
  if (filter) {
    tests.push(filter);
  }
  return tests;
}
