import { IEditorServices } from '@jupyterlab/codeeditor';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Check, JobSpec } from '../../api/types';
import { LaunchModel } from '../model/launch';
import { isEqual } from '../../common/memo';
import { useValue } from '../../common/hooks';
import { WithShortcut } from '../../common/shortcut';
import { ILinePlace } from '../../ui/YamlEditor';

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
  withShortcut: WithShortcut;
}

/**
 * What every part of the form needs. It is the same object as long as the form is shown.
 *
 * A part that shows something of the model reads it with `useModel`: it is not drawn again otherwise.
 * An event handler reads the model itself.
 */
export interface ILaunchContext {
  model: LaunchModel;
  trans: TranslationBundle;
  actions: ILaunchActions;
  /** The lab's own editors. */
  editors: IEditorServices;
  /** Begins the ids of this tab's elements. */
  prefix: string;
  /** Open the group that a field is in, and put the focus there. */
  reveal(field: string): void;
  /** Put the focus to a place of the manifest. */
  revealLine(place: ILinePlace): void;
}

export const LaunchContext = React.createContext<ILaunchContext | null>(null);

export function useLaunch(): ILaunchContext {
  const context = React.useContext(LaunchContext);
  if (!context) {
    throw new Error('A part of the launch form stands outside of it.');
  }
  return context;
}

/**
 * Return what a part of the form shows of the model. The part is drawn again only when that has another content.
 *
 * @param read - Takes a few values out of the model, or puts them into words.
 */
export function useModel<Value>(read: (model: LaunchModel) => Value): Value {
  const { model } = useLaunch();
  const last = React.useRef<{ value: Value } | null>(null);
  return useValue(model.changed, () => {
    const value = read(model);
    if (last.current === null || !isEqual(last.current.value, value)) {
      last.current = { value };
    }
    return last.current.value;
  });
}

/** Return the text of a field that can't be put into the spec; null if there is none. */
export function useDraft(field: string): string | null {
  return useModel(({ form }) => form.drafts[field]?.text ?? null);
}

/**
 * Return whether an optional part of the spec is set, and the last value that it had, for when it is set again.
 *
 * @param read - Takes the part out of the spec; null where it is not set.
 */
export function useOptional<Part>(
  read: (spec: JobSpec) => Part | null
): [isSet: boolean, last: React.RefObject<Part>] {
  const last = React.useRef<Part | null>(null);
  const isSet = useModel(({ form }) => {
    const part = read(form.spec);
    last.current = part ?? last.current;
    return part !== null;
  });
  return [isSet, last];
}

/** Return the checks that a part of the form shows. */
export function useChecks(
  isShown: (check: Check) => boolean
): readonly Check[] {
  return useModel(({ checks }) => checks.filter(isShown));
}
