/** Answers of the server about experiments. */
import type { Scalar } from '../common/filter/fields';

/** A number of a JSON answer. Numbers that are not finite are words. */
export type JsonNumber = number | 'nan' | 'inf' | '-inf';

export type { Scalar };

/** Summary of one metric of a run. */
export interface IMetricSummary {
  last: JsonNumber;
  last_step: number | null;
  /** Null if no value is finite; the same for `max`. */
  min: JsonNumber | null;
  min_step: number | null;
  max: JsonNumber | null;
  max_step: number | null;
  /** Number of values. */
  count: number;
  /** At most 44 values for the small curve of the table; empty unless they were asked for. */
  curve: JsonNumber[];
}

/** The job that a run belongs to. */
export interface IRunJob {
  id: string;
  engine: string;
  namespace: string;
  uid: string;
  name: string;
}

/** State of a run. A run is stale if its files say that it runs and its process has gone. */
export type RunStatus = 'running' | 'complete' | 'error' | 'stale' | 'unknown';

/** A run as a row of the table; times in seconds since the epoch. */
export interface IRunRow {
  id: string;
  name: string;
  /** Tells runs of equal names apart; may be empty. */
  suffix: string;
  origin: 'recorder' | 'events' | 'mlflow' | 'wandb' | 'job';
  status: RunStatus;
  /** The status in words. */
  sentence: string;
  /** Contents path of the run's folder; null for a job that has no folder. */
  path: string | null;
  job: IRunJob | null;
  started_at: number | null;
  ended_at: number | null;
  seconds: number | null;
  epoch: number | null;
  /** Parameters; keys of nested ones are joined by dots. */
  parameters: Record<string, Scalar>;
  /** Metrics by `type.name`. */
  metrics: Record<string, IMetricSummary>;
  environment: Record<string, Scalar>;
  labels: string[];
  tags: string[];
  note: string;
  archived: boolean;
}

/** Direction in which a metric improves; null if it is unknown. */
export type Goal = 'min' | 'max' | null;

/** A column that the table can show. */
export interface IRunColumn {
  name: string;
  group: 'parameters' | 'metrics' | 'environment';
  kind: 'number' | 'text' | 'boolean';
  /** Number of runs that have it. */
  runs: number;
  /** Number of different values, at most 1000. */
  distinct: number;
  goal: Goal;
}

/** A folder that could not be read. */
export interface IUnreadable {
  path: string;
  problem: string;
}

/** The runs below a folder. */
export interface IRunTable {
  revision: number;
  /** False if the answer has only the changes since the revision of the request. */
  complete: boolean;
  scanning: boolean;
  runs: IRunRow[];
  removed: string[];
  columns: IRunColumn[];
  unreadable: IUnreadable[];
  unreadable_count: number;
  /** Sentence about folders that the search did not reach; null if it reached all. */
  left_out: string | null;
}

/** A file of a run; the path is relative to the lab's root. */
export interface IRunFile {
  path: string;
  size: number;
  modified_at: number;
}

/** An input or output of a run. */
export interface IAssociation {
  /** Id of the artifact; null if it is not found or no artifact. */
  id: string | null;
  kind: string;
  name: string;
  path: string | null;
  found: boolean;
}

/** A run with everything that is known about it. */
export interface IRunDetail {
  run: IRunRow;
  parameters: { name: string; value: Scalar }[];
  description: string;
  environment: Record<string, Scalar>;
  packages: Record<string, string>;
  git: Record<string, Scalar>;
  /** Names of all metrics. */
  metrics: string[];
  files: IRunFile[];
  inputs: IAssociation[];
  outputs: IAssociation[];
  checkpoints: IRunFile[];
  /** Where each part comes from, in words. */
  sources: Record<string, string>;
  /** Ids of the runs of the same job, oldest first. */
  attempts: string[];
}

/** Unit of the x axis of a chart. */
export type XAxis = 'step' | 'epoch' | 'time';

/** A request for curves. */
export interface ICurvesRequest {
  runs: string[];
  metrics: string[];
  x: XAxis;
  /** Width of the chart in px: the server returns the minimum and the maximum of each pixel. */
  width: number;
  /** Only values of the x axis from here, for a zoomed chart. */
  first?: number;
  /** Only values of the x axis up to here. */
  last?: number;
}

/** Values of a metric of a run that are no finite numbers. */
export interface INotFinite {
  count: number;
  first_step: number | null;
  last_step: number | null;
}

/** Curve of a metric of a run. */
export interface ICurve {
  run: string;
  metric: string;
  x: number[];
  y: JsonNumber[];
  /** Number of values before the reduction. */
  count: number;
  not_finite: INotFinite;
  truncated: boolean;
}
