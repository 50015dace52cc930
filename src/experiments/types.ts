/** Names for parts of the API's types of experiments. */
import { Curve, CurvesRequest, RunColumn, RunRow } from '../api/types';
import type { Scalar } from '../common/filter/fields';

/** A number of a JSON answer. Numbers that are not finite are words. */
export type JsonNumber = Curve['y'][number];

export type { Scalar };

/** State of a run. A run is stale if its files say that it runs and its process has gone. */
export type RunStatus = RunRow['status'];

/** Direction in which a metric improves; null if it is unknown. */
export type Goal = RunColumn['goal'];

/** Unit of the x axis of a chart. */
export type XAxis = NonNullable<CurvesRequest['x']>;
