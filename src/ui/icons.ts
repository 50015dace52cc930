/** Icons of this extension that are loaded with the lab; `pageIcons` has the others. */

import { LabIcon } from '@jupyterlab/ui-components';
import error from '../../style/icons/error.svg';
import failed from '../../style/icons/failed.svg';
import hint from '../../style/icons/hint.svg';
import job from '../../style/icons/job.svg';
import paused from '../../style/icons/paused.svg';
import pending from '../../style/icons/pending.svg';
import resuming from '../../style/icons/resuming.svg';
import running from '../../style/icons/running.svg';
import stopped from '../../style/icons/stopped.svg';
import submitting from '../../style/icons/submitting.svg';
import succeeded from '../../style/icons/succeeded.svg';
import tensorboard from '../../style/icons/tensorboard.svg';
import unknown from '../../style/icons/unknown.svg';
import warning from '../../style/icons/warning.svg';
import type { JobState } from '../api/aliases';

/** Create an icon of this extension. */
export const icon = (name: string, svgstr: string): LabIcon =>
  new LabIcon({ name: `jupyterlab_t9kjob:${name}`, svgstr });

/** Icon of jobs and of this extension. */
export const jobIcon = icon('job', job);

/** Icon of TensorBoard. */
export const tensorBoardIcon = icon('tensorboard', tensorboard);

/** Icon of errors. A check that passed has the icon of the state “succeeded”. */
export const errorIcon = icon('error', error);
/** Icon of warnings. */
export const warningIcon = icon('warning', warning);
/** Icon of hints. */
export const hintIcon = icon('hint', hint);

/**
 * Icons of the states of a job, drawn in `currentColor`. Each has a distinct shape, so that the colour is not
 * needed.
 */
export const stateIcons: Record<JobState, LabIcon> = {
  submitting: icon('submitting', submitting),
  pending: icon('pending', pending),
  running: icon('running', running),
  stalled: warningIcon,
  resuming: icon('resuming', resuming),
  paused: icon('paused', paused),
  succeeded: icon('succeeded', succeeded),
  failed: icon('failed', failed),
  stopped: icon('stopped', stopped),
  unknown: icon('unknown', unknown)
};
