/** Source of a TensorBoard's tab. */

/** A job's log directories, or folders. JupyterLab restores it after a reload of the page. */
export interface ITensorBoardSource {
  jobId?: string;
  paths?: string[];
}

/** Return the identifier of a source. */
export function keyOf({ jobId, paths }: ITensorBoardSource): string {
  return jobId ?? (paths ?? []).join('|');
}
