/** Type of a function that runs a JupyterLab command. */

import { ReadonlyPartialJSONObject } from '@lumino/coreutils';

/** Run a JupyterLab command without waiting for its result. */
export type RunCommand = (
  command: string,
  args?: ReadonlyPartialJSONObject
) => void;
