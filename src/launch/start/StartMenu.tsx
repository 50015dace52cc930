/** Menu “Start from”: the file's last submission, presets, and the cloned job. */
import { caretDownIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { formatTime } from '../../common/format';
import { Icon } from '../../ui/Icon';
import { errorIcon } from '../../ui/icons';
import { lockIcon } from '../../ui/pageIcons';
import { describePreset, presetOf, PRESET_GROUPS } from '../content/presets';
import { LaunchModel } from '../model/launch';
import { useLaunch, useModel } from '../parts/context';
import { ManagePresets } from './ManagePresets';
import { SavePreset } from './SavePreset';

/** An entry of the menu. */
interface IEntry {
  label: string;
  /** Fields that the entry sets, in words. */
  note: string;
  kind?: 'administrator' | 'problem';
  checked?: boolean;
  /** Missing for an entry that can't be chosen. */
  execute?(): void;
}

/** Entries below a heading. */
interface ISection {
  title: string | null;
  entries: IEntry[];
}

/** Content of the popup. */
type Pane = 'menu' | 'save' | 'manage';

/** Button “Start from” with its popup. */
export function StartMenu(): React.JSX.Element {
  const { model, trans, prefix } = useLaunch();
  const [pane, setPane] = React.useState<Pane | null>(null);
  const root = React.useRef<HTMLDivElement>(null);
  const button = React.useRef<HTMLButtonElement>(null);
  const isLocked = useModel(now => now.isLocked);
  const label = useModel(now => currentStart(now, trans));
  const close = React.useCallback(() => {
    setPane(null);
    button.current?.focus();
  }, []);
  // Close the popup when the user clicks elsewhere.
  React.useEffect(() => {
    if (pane === null) {
      return;
    }
    const onDown = (event: MouseEvent): void => {
      if (!root.current?.contains(event.target as Node)) {
        setPane(null);
      }
    };
    document.addEventListener('mousedown', onDown);
    return () => document.removeEventListener('mousedown', onDown);
  }, [pane]);
  const id = `${prefix}start`;
  return (
    <div
      ref={root}
      className="jp-t9k-Launch-start"
      onKeyDown={event => {
        if (event.key === 'Escape' && pane !== null) {
          event.stopPropagation();
          close();
        }
      }}
    >
      <span id={`${id}-label`}>{trans.__('Start from')}</span>
      <button
        ref={button}
        type="button"
        id={id}
        className="jp-t9k-Launch-startButton"
        aria-haspopup="menu"
        aria-expanded={pane !== null}
        aria-labelledby={`${id}-label ${id}`}
        aria-disabled={isLocked || undefined}
        title={label}
        onClick={() => {
          if (!isLocked) {
            setPane(pane === null ? 'menu' : null);
            void model.presets.load();
          }
        }}
        onKeyDown={event => {
          if (event.key === 'ArrowDown' && pane === null && !isLocked) {
            event.preventDefault();
            setPane('menu');
          }
        }}
      >
        <span>{label}</span>
        <Icon of={caretDownIcon} />
      </button>
      {pane !== null && (
        <div className="jp-t9k-Launch-startPopup">
          {pane === 'menu' ? (
            <Entries onClose={close} onPane={setPane} />
          ) : pane === 'save' ? (
            <SavePreset onClose={close} />
          ) : (
            <ManagePresets onClose={close} />
          )}
        </div>
      )}
    </div>
  );
}

/** Entries of the menu. The arrow keys move between them. */
function Entries({
  onClose,
  onPane
}: {
  onClose(): void;
  onPane(pane: Pane): void;
}): React.JSX.Element {
  const { model, trans } = useLaunch();
  const menu = React.useRef<HTMLDivElement>(null);
  useModel(startValues); // render again when an entry may have changed
  const sections = startSections(model, trans);
  React.useEffect(() => {
    menu.current?.querySelector<HTMLElement>('button')?.focus();
  }, []);
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const items = [
      ...(menu.current?.querySelectorAll<HTMLElement>('button') ?? [])
    ];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const next = {
      ArrowDown: (at + 1) % items.length,
      ArrowUp: (at - 1 + items.length) % items.length,
      Home: 0,
      End: items.length - 1
    }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      items[next]?.focus();
    } else if (event.key === 'Tab') {
      onClose();
    }
  };
  const choose = (entry: IEntry): void => {
    if (entry.execute) {
      onClose();
      entry.execute();
    }
  };
  return (
    <div
      ref={menu}
      role="menu"
      aria-label={trans.__('Start from')}
      onKeyDown={onKeyDown}
    >
      {sections.map(({ title, entries }) => (
        <div key={title ?? ''} role="group" aria-label={title ?? undefined}>
          {title !== null && <div role="presentation">{title}</div>}
          {entries.map((entry, index) => (
            <button
              key={index}
              type="button"
              role="menuitemradio"
              tabIndex={-1}
              aria-checked={entry.checked ?? false}
              aria-disabled={!entry.execute || undefined}
              onClick={() => choose(entry)}
            >
              <span data-kind={entry.kind}>
                {entry.kind === 'administrator' && <Icon of={lockIcon} />}
                {entry.kind === 'problem' && <Icon of={errorIcon} />}
                {entry.checked && !entry.kind && '✓'}
              </span>
              <span>
                <span>{entry.label}</span>
                <span className="jp-t9k-caption">{entry.note}</span>
              </span>
            </button>
          ))}
        </div>
      ))}
      <div role="group">
        <button
          type="button"
          role="menuitem"
          tabIndex={-1}
          onClick={() => onPane('save')}
        >
          <span />
          <span>{trans.__('Save as preset…')}</span>
        </button>
        <button
          type="button"
          role="menuitem"
          tabIndex={-1}
          onClick={() => onPane('manage')}
        >
          <span />
          <span>{trans.__('Manage presets…')}</span>
        </button>
      </div>
    </div>
  );
}

/** Return the values of the model on which the entries depend. */
function startValues({
  state,
  presets,
  differences
}: LaunchModel): readonly unknown[] {
  const { start, applied, lastTime, lastSubmission, clone } = state;
  return [
    ...[start, applied?.name, lastTime, lastSubmission, clone?.name],
    ...[presets.list, presets.failure, differences.length]
  ];
}

/** Return the text of the button: the form's starting point. */
function currentStart(model: LaunchModel, trans: TranslationBundle): string {
  const { start, clone, applied } = model.state;
  if (applied) {
    return applied.name;
  }
  if (start === 'last') {
    return trans.__('As last time');
  }
  if (start === 'job' && clone) {
    return model.differences.length
      ? trans.__('%1, changed', clone.name)
      : clone.name;
  }
  return trans.__('Defaults');
}

/** Return the entries of the menu. */
function startSections(
  model: LaunchModel,
  trans: TranslationBundle
): ISection[] {
  const { path, start, lastTime, lastSubmission, clone, applied } = model.state;
  const { list, failure } = model.presets;
  const is = (name: string): boolean => start === name && !applied;
  const all = new Set(PRESET_GROUPS);
  const file: IEntry[] = [];
  if (lastTime) {
    const { spec, time } = lastTime;
    const about = describePreset(presetOf(spec, all, spec.args), trans);
    file.push({
      label: trans.__('As last time'),
      note: [spec.name, formatTime(time, trans), about].join(' · '),
      checked: is('last'),
      execute: () => void model.startFrom('last')
    });
  }
  if (path !== null) {
    file.push({
      label: trans.__('Defaults'),
      note: trans.__('What the script and the lab say'),
      checked: is('defaults'),
      execute: () => void model.startFrom('defaults')
    });
  }
  if (lastSubmission) {
    const { spec, time } = lastSubmission;
    const about = describePreset(presetOf(spec, all, []), trans);
    file.push({
      label: trans.__('Last submission'),
      note: [spec.name, formatTime(time, trans), about].join(' · '),
      checked: applied?.name === spec.name,
      execute: () => void model.applyLastSubmission()
    });
  }
  const presetsOf = (source: 'own' | 'administrator'): IEntry[] => [
    ...list.presets
      .filter(preset => preset.source === source)
      .map((preset): IEntry => ({
        label: preset.name,
        note: describePreset(preset, trans),
        kind: source === 'administrator' ? source : undefined,
        checked: applied?.name === preset.name,
        execute: () => void model.applyPreset(preset.name, preset)
      })),
    ...list.problems
      .filter(problem => problem.source === source)
      .map(({ name, message, path: file, line }): IEntry => ({
        label: name ?? trans.__('Presets can’t be read.'),
        note: [message, file && line ? `${file}:${line}` : file]
          .filter(Boolean)
          .join(' '),
        kind: 'problem'
      }))
  ];
  const sections: ISection[] = [
    { title: model.name, entries: file },
    { title: trans.__('Yours'), entries: presetsOf('own') },
    {
      title: trans.__('From the administrator'),
      entries: presetsOf('administrator')
    },
    {
      title: trans.__('From a job'),
      entries: clone
        ? [
            {
              label: clone.name,
              note: differencesText(model, trans),
              checked: is('job'),
              execute: () => void model.startFrom('job')
            }
          ]
        : []
    }
  ];
  if (failure) {
    sections[1].entries.push({
      label: trans.__('Presets can’t be read.'),
      note: failure.message,
      kind: 'problem'
    });
  }
  return sections.filter(({ entries }) => entries.length > 0);
}

function differencesText(model: LaunchModel, trans: TranslationBundle): string {
  const { length } = model.differences;
  return length
    ? trans._n('%1 field differs', '%1 fields differ', length)
    : trans.__('All values of this job');
}
