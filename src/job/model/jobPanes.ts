/** Panes of a job's tab. */
export type JobPane =
  'overview' | 'replicas' | 'logs' | 'resources' | 'stacks' | 'yaml';

/** All panes, in the order of their tabs. */
export const JOB_PANES: readonly JobPane[] = [
  'overview',
  'replicas',
  'logs',
  'resources',
  'stacks',
  'yaml'
];
