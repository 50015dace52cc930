import { IEditorServices } from '@jupyterlab/codeeditor';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Check } from '../../api/types';
import { LaunchModel } from '../../model/launch';
import { ILinePlace } from '../YamlEditor';

/** What the form asks of the lab. */
export interface ILaunchActions {
  /** Open a file in an editor, at a line if one is given (from 1). */
  openFile(path: string, line?: number | null): void;
  /** Ask for a script or notebook; null if none was chosen. */
  chooseFile(): Promise<string | null>;
  /** Ask for a folder; null if none was chosen. */
  chooseFolder(): Promise<string | null>;
  /** Ask for a manifest, and open a form with it. */
  pasteManifest(): void;
  /** Ask for the pasted manifest again, with its text to be corrected. */
  correctManifest(): void;
  /** Take the edited manifest over into the form; asks if something would be lost. */
  backToForm(): void;
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
  /** The lab's own editors. */
  editors: IEditorServices;
  /** Checks of the form, looked up once for all parts. */
  checks: readonly Check[];
  /** Begins the ids of this tab's elements. */
  prefix: string;
  /** Open the group that a field is in, and put the focus there. */
  reveal(field: string): void;
  /** Put the focus to a place of the manifest. */
  revealLine(place: ILinePlace): void;
  /** The place that was asked for last; a new object each time. */
  linePlace: ILinePlace | null;
}

export const LaunchContext = React.createContext<ILaunchContext | null>(null);

export function useLaunch(): ILaunchContext {
  const context = React.useContext(LaunchContext);
  if (!context) {
    throw new Error('A part of the launch form stands outside of it.');
  }
  return context;
}
