/** Pane of the menu “Start from” that renames and deletes the user's presets. */
import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { ApiError, expectApiError } from '../../api/errors';
import { Preset } from '../../api/types';
import { Button, IconButton } from '../../ui/Buttons';
import { describePreset } from '../content/presets';
import { useLaunch, useModel } from '../parts/context';
import { LONGEST_NAME } from './SavePreset';
import { sentences } from '../../common/format';

/** The user's presets: the name of each is a field, and a button deletes it. */
export function ManagePresets({
  onClose
}: {
  onClose(): void;
}): React.JSX.Element {
  const { model, trans } = useLaunch();
  const own = useModel(({ presets }) =>
    presets.list.presets.filter(({ source }) => source === 'own')
  );
  const [failure, setFailure] = React.useState<ApiError | null>(null);
  const root = React.useRef<HTMLDivElement>(null);
  const change = async (request: Promise<unknown>): Promise<void> => {
    try {
      await request;
      setFailure(null);
    } catch (error) {
      setFailure(expectApiError(error));
    }
    await model.presets.load();
    // The focused button may be gone with its preset; the keyboard stays in the pane.
    if (!root.current?.contains(document.activeElement)) {
      root.current?.focus();
    }
  };
  return (
    <div
      ref={root}
      tabIndex={-1}
      role="dialog"
      aria-label={trans.__('Manage presets')}
      className="jp-t9k-Launch-presetPane"
    >
      {own.length === 0 && (
        <p className="jp-t9k-caption">
          {trans.__('You have no presets. Save the form’s values as one.')}
        </p>
      )}
      {own.map(preset => (
        <PresetRow key={preset.id} preset={preset} change={change} />
      ))}
      {failure && (
        <p role="alert" className="jp-t9k-Launch-presetError">
          {sentences([failure.message, failure.hint, failure.verbatim])}
        </p>
      )}
      <div>
        <Button autoFocus onClick={onClose}>
          {trans.__('Close')}
        </Button>
      </div>
    </div>
  );
}

function PresetRow({
  preset,
  change
}: {
  preset: Preset;
  change(request: Promise<unknown>): Promise<void>;
}): React.JSX.Element {
  const { model, trans } = useLaunch();
  const { client } = model.presets;
  const [name, setName] = React.useState(preset.name);
  const [isSure, setSure] = React.useState(false);
  // The text that Enter has sent, or Escape dropped: the field loses the focus without renaming.
  const settled = React.useRef<string | null>(null);
  const rename = async (): Promise<void> => {
    if (settled.current === name) {
      return;
    }
    if (name.trim() && name.trim() !== preset.name) {
      settled.current = name;
      await change(client.rename(preset.id, name.trim()));
      settled.current = null;
    } else {
      setName(preset.name);
    }
  };
  return (
    <div className="jp-t9k-Launch-presetRow">
      <input
        type="text"
        autoComplete="off"
        maxLength={LONGEST_NAME}
        aria-label={trans.__('Name of preset %1', preset.name)}
        value={name}
        onChange={event => setName(event.target.value)}
        onBlur={() => void rename()}
        onKeyDown={event => {
          if (event.key === 'Enter') {
            event.preventDefault();
            void rename();
          } else if (event.key === 'Escape') {
            settled.current = name; // it closes the pane
          }
        }}
      />
      {isSure ? (
        <Button autoFocus onClick={() => void change(client.delete(preset.id))}>
          {trans.__('Delete')}
        </Button>
      ) : (
        <IconButton
          icon={closeIcon}
          label={trans.__('Delete preset %1', preset.name)}
          onClick={() => setSure(true)}
        />
      )}
      <span className="jp-t9k-caption">{describePreset(preset, trans)}</span>
    </div>
  );
}
