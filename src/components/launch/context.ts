import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Check } from '../../api/types';
import { LaunchModel } from '../../model/launch';

/** What the form asks of the lab. */
export interface ILaunchActions {
  /** Open a file in an editor, at a line if one is given (from 1). */
  openFile(path: string, line?: number | null): void;
  /** Ask for a script or notebook; null if none was chosen. */
  chooseFile(): Promise<string | null>;
  /** Ask for a folder; null if none was chosen. */
  chooseFolder(): Promise<string | null>;
  /** Create the job and go to it. */
  submit(): void;
  /** Validate the form without creating anything. */
  dryRun(): void;
}

/** What every part of the form needs. */
export interface ILaunchContext {
  model: LaunchModel;
  trans: TranslationBundle;
  actions: ILaunchActions;
  /** Checks of the form, looked up once for all parts. */
  checks: readonly Check[];
  /** Begins the ids of this tab's elements. */
  prefix: string;
  /** Open the group that a field is in, and put the focus there. */
  reveal(field: string): void;
}

export const LaunchContext = React.createContext<ILaunchContext | null>(null);

export function useLaunch(): ILaunchContext {
  const context = React.useContext(LaunchContext);
  if (!context) {
    throw new Error('A part of the launch form stands outside of it.');
  }
  return context;
}
