/** Icons of this extension. */

import { LabIcon } from '@jupyterlab/ui-components';
import clock from '../../style/icons/clock.svg';
import error from '../../style/icons/error.svg';
import failed from '../../style/icons/failed.svg';
import hint from '../../style/icons/hint.svg';
import job from '../../style/icons/job.svg';
import lock from '../../style/icons/lock.svg';
import log from '../../style/icons/log.svg';
import lost from '../../style/icons/lost.svg';
import pause from '../../style/icons/pause.svg';
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
import wrap from '../../style/icons/wrap.svg';
import type { JobState } from '../api/aliases';

const icon = (name: string, svgstr: string): LabIcon =>
  new LabIcon({ name: `jupyterlab_t9kjob:${name}`, svgstr });

/** Icon of jobs and of this extension. */
export const jobIcon = icon('job', job);

/** Icon of TensorBoard. */
export const tensorBoardIcon = icon('tensorboard', tensorboard);

/** Icon of a job's log. */
export const logIcon = icon('log', log);

/** Icon of the button that shows the times of log lines. */
export const clockIcon = icon('clock', clock);
/** Icon of the button that wraps long log lines. */
export const wrapIcon = icon('wrap', wrap);

/** Icon of a value that stays in the cluster. */
export const lockIcon = icon('lock', lock);

/** Icon of the action “pause”. JupyterLab provides one only since version 4.3. */
export const pauseIcon = icon('pause', pause);

/** Icon of errors. A check that passed has the icon of the state “succeeded”. */
export const errorIcon = icon('error', error);
/** Icon of warnings. */
export const warningIcon = icon('warning', warning);
/** Icon of hints. */
export const hintIcon = icon('hint', hint);

/** Icon of items that an action deletes, in confirmation dialogs. */
export const lostIcon = icon('lost', lost);

/**
 * Icons of the states of a job, drawn in `currentColor`. Each has a distinct shape, so that the colour is not
 * needed.
 */
export const stateIcons: Record<JobState, LabIcon> = {
  submitting: icon('submitting', submitting),
  pending: icon('pending', pending),
  running: icon('running', running),
  resuming: icon('resuming', resuming),
  paused: icon('paused', paused),
  succeeded: icon('succeeded', succeeded),
  failed: icon('failed', failed),
  stopped: icon('stopped', stopped),
  unknown: icon('unknown', unknown)
};
