/** Pane of the menu “Start from” that saves the form's values as a preset. */
import * as React from 'react';
import { ApiError, expectApiError } from '../../api/errors';
import { Button } from '../../ui/Buttons';
import { groupLabel, PRESET_GROUPS, PresetGroup } from '../content/presets';
import { useLaunch } from '../parts/context';
import { sentences } from '../../common/format';

/** Longest name of a preset. */
export const LONGEST_NAME = 80;

/** Name and parts of a new preset. */
export function SavePreset({
  onClose
}: {
  onClose(): void;
}): React.JSX.Element {
  const { model, trans, prefix } = useLaunch();
  const [name, setName] = React.useState('');
  const [groups, setGroups] = React.useState<ReadonlySet<PresetGroup>>(
    () => new Set<PresetGroup>(['size', 'image', 'placement'])
  );
  const [failure, setFailure] = React.useState<ApiError | null>(null);
  const isTaken = failure?.code === 'PresetExists';
  const save = async (): Promise<void> => {
    try {
      await model.savePreset(name.trim(), groups, isTaken);
      onClose();
    } catch (error) {
      setFailure(expectApiError(error));
    }
  };
  const toggle = (group: PresetGroup): void => {
    const next = new Set(groups);
    if (!next.delete(group)) {
      next.add(group);
    }
    setGroups(next);
  };
  const isReady = name.trim() !== '' && groups.size > 0;
  return (
    <div
      role="dialog"
      aria-label={trans.__('Save as preset')}
      className="jp-t9k-Launch-presetPane"
    >
      <label htmlFor={`${prefix}preset-name`}>{trans.__('Name')}</label>
      <input
        type="text"
        id={`${prefix}preset-name`}
        autoFocus
        autoComplete="off"
        maxLength={LONGEST_NAME}
        value={name}
        onChange={event => {
          setName(event.target.value);
          setFailure(null);
        }}
        onKeyDown={event => {
          if (event.key === 'Enter' && isReady) {
            event.preventDefault();
            void save();
          }
        }}
      />
      <fieldset>
        <legend>{trans.__('Values to save')}</legend>
        {PRESET_GROUPS.map(group => (
          <label key={group} className="jp-t9k-Launch-check">
            <input
              type="checkbox"
              checked={groups.has(group)}
              onChange={() => toggle(group)}
            />
            {groupLabel(group, trans)}
          </label>
        ))}
      </fieldset>
      {failure && (
        <p role="alert" className="jp-t9k-Launch-presetError">
          {sentences([failure.message, failure.hint, failure.verbatim])}
        </p>
      )}
      <div>
        <Button onClick={onClose}>{trans.__('Cancel')}</Button>
        <Button
          kind="primary"
          aria-disabled={!isReady || undefined}
          onClick={() => isReady && void save()}
        >
          {isTaken ? trans.__('Overwrite') : trans.__('Save')}
        </Button>
      </div>
    </div>
  );
}
