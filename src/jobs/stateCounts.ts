/** Numbers of jobs in each state. */
import { TranslationBundle } from '@jupyterlab/translation';
import { JobState } from '../api/aliases';
import { JobSummary } from '../api/types';
import { countText, stateOf } from './phase';

/**
 * States in the order in which a summary of several jobs counts them. Failures come first, because a narrow row cuts
 * the end of the summary.
 */
const COUNTED_STATES: readonly JobState[] = [
  'failed',
  'running',
  'resuming',
  'submitting',
  'pending',
  'paused',
  'unknown',
  'succeeded',
  'stopped'
];

/** Return the states of jobs with their counts: “1 failed”, “4 running”. */
export function stateCounts(
  jobs: readonly JobSummary[],
  trans: TranslationBundle
): string[] {
  const counts = new Map<JobState, number>();
  for (const job of jobs) {
    const state = stateOf(job);
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return COUNTED_STATES.flatMap(state => {
    const count = counts.get(state);
    return count ? countText(count, state, trans) : [];
  });
}
