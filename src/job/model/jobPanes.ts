/** Inner tabs of a job's tab. */
export type JobPane = 'overview' | 'replicas' | 'logs' | 'yaml';

export const JOB_PANES: readonly JobPane[] = [
  'overview',
  'replicas',
  'logs',
  'yaml'
];
