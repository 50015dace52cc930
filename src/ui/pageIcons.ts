/** Icons that only pages use. They are loaded with the first page. */

import clock from '../../style/icons/clock.svg';
import lock from '../../style/icons/lock.svg';
import log from '../../style/icons/log.svg';
import lost from '../../style/icons/lost.svg';
import pause from '../../style/icons/pause.svg';
import wrap from '../../style/icons/wrap.svg';
import { icon } from './icons';

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

/** Icon of items that an action deletes, in confirmation dialogs. */
export const lostIcon = icon('lost', lost);
