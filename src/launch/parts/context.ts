/** Context of the launch form's components, and hooks that read its model. */
import { IEditorServices } from '@jupyterlab/codeeditor';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Check, JobSpec, Lock } from '../../api/types';
import { LaunchModel } from '../model/launch';
import { fixingLock } from '../content/locks';
import { isEqual } from '../../common/memo';
import { useValue } from '../../common/hooks';
import { IWithShortcut } from '../../common/shortcut';
import { ILinePlace } from '../../ui/editor/YamlEditor';

/** Actions of the form that need the lab. */
export interface ILaunchActions {
  /**
   * Open a file in an editor.
   *
   * @param line - Line to show, from 1; in a notebook, the line of the cell.
   * @param cell - Cell of a notebook to show, from 1.
   */
  openFile(path: string, line?: number | null, cell?: number | null): void;
  /** Let the user choose a script or notebook; null if none was chosen. */
  chooseFile(): Promise<string | null>;
  /** Let the user choose a file of rows for a sweep; null if none was chosen. */
  chooseRows(): Promise<string | null>;
  /** Let the user choose a text file; its path and its text, or null if none was chosen or it can't be read. */
  chooseText(): Promise<{ path: string; text: string } | null>;
  /** Let the user choose a folder; null if none was chosen. */
  chooseFolder(): Promise<string | null>;
  /** Let the user paste a manifest, and open a form with it. */
  pasteManifest(): void;
  /** Let the user correct the text of the pasted manifest. */
  correctManifest(): void;
  /** Apply the edited manifest to the form; ask first if the form can't represent all of it. */
  backToForm(): void;
  /** Create the job and show it. */
  submit(): void;
  /** Validate the form without creating a job. */
  dryRun(): void;
  /** Save the form's file, or let the user run the saved version; false if the user cancels. */
  saveFirst(): Promise<boolean>;
  /** Returns a label with the keyboard shortcut of a command. */
  withShortcut: IWithShortcut;
}

/**
 * Services for the components of the form. The object does not change while the form is shown.
 *
 * Components read the model with `useModel`, because a change of the model alone does not render them. Event handlers
 * read the model directly.
 */
export interface ILaunchContext {
  /** Model of the form. */
  model: LaunchModel;
  trans: TranslationBundle;
  actions: ILaunchActions;
  /** Services for the lab's text editors. */
  editors: IEditorServices;
  /** Prefix of the ids of the tab's elements. */
  prefix: string;
  /** Open the group of a field and focus the field. */
  reveal(field: string): void;
  /** Focus a position in the manifest. */
  revealLine(place: ILinePlace): void;
}

/** Provides the launch form's context. */
export const LaunchContext = React.createContext<ILaunchContext | null>(null);

/** Return the context of the launch form. Raises an error outside of a form. */
export function useLaunch(): ILaunchContext {
  const context = React.useContext(LaunchContext);
  if (!context) {
    throw new Error('A part of the launch form stands outside of it.');
  }
  return context;
}

/**
 * Return a value of the model. The component renders again only if the value changes in a deep comparison.
 *
 * @param read - Selects values of the model, or returns a text about them.
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

/** Return the invalid text of a field; null if there is none. */
export function useDraft(field: string): string | null {
  return useModel(({ form }) => form.drafts[field]?.text ?? null);
}

/**
 * Return true if an optional part of the spec is set, and its last value, to be restored when it is set again.
 *
 * @param read - Selects the part of the spec; null if it is not set.
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

/** Return the administrator's lock on a field; null if there is none. */
export function useLock(field: string): Lock | null {
  return useModel(({ locks }) => locks.get(field) ?? null);
}

/** Return the administrator's lock that sets the value of a field; null if the user may change the value. */
export function useFixed(field: string): Lock | null {
  return useModel(({ locks }) => fixingLock(locks, field));
}

/** Return the checks that fulfil a condition. */
export function useChecks(
  isShown: (check: Check) => boolean
): readonly Check[] {
  return useModel(({ checks }) => checks.filter(isShown));
}
