import { ReadonlyPartialJSONObject } from '@lumino/coreutils';

/** Run a command of the lab. */
export type RunCommand = (
  command: string,
  args?: ReadonlyPartialJSONObject
) => void;
