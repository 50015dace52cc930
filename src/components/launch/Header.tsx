import { ellipsesIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { EngineName } from '../../api/aliases';
import { EngineInfo, ScriptInfo } from '../../api/types';
import { formatTime } from '../../model/format';
import { Start } from '../../model/launchState';
import { IconButton } from '../Buttons';
import { openMenu } from '../menu';
import { Segments } from '../Segments';
import { useLaunch } from './context';
import { Select } from './fields';

/** Where the job runs, what the script is, and what the form started from. */
export function Header(): React.JSX.Element {
  const { model, trans, actions, checks } = useLaunch();
  const { prefill, path } = model.state;
  const isRead =
    path !== null &&
    !checks.some(
      ({ level, field }) => level === 'error' && field === '/entrypoint/value'
    );
  const { name } = model;
  const engines = prefill?.engines ?? [];
  const openMore = (anchor: HTMLElement, file: string) =>
    openMenu(anchor, [
      {
        label: trans.__('Open %1', name),
        execute: () => actions.openFile(file)
      },
      {
        label: trans.__('Read %1 Again', name),
        execute: () => void model.readScript()
      }
    ]);
  return (
    <div className="jp-t9k-Launch-header">
      <EngineChoice engines={engines} />
      <span className="jp-t9k-Launch-about jp-t9k-caption">
        {prefill && isRead && describeScript(prefill.script, trans)}
      </span>
      <StartChoice />
      {path !== null && (
        <IconButton
          icon={ellipsesIcon}
          label={trans.__('More about %1', name)}
          aria-haspopup="menu"
          aria-expanded={false}
          onClick={event => openMore(event.currentTarget, path)}
        />
      )}
    </div>
  );
}

function EngineChoice({
  engines
}: {
  engines: readonly EngineInfo[];
}): React.JSX.Element {
  const { model, trans } = useLaunch();
  const { engine } = model.state;
  return (
    <Segments<EngineName>
      aria-label={trans.__('Where the job runs')}
      segments={engines.map(info => ({
        value: info.name,
        label: info.default_namespace
          ? `${info.label} · ${info.default_namespace}`
          : info.label,
        disabled: info.available
          ? null
          : (info.reason ?? trans.__('It is not available.'))
      }))}
      value={engine}
      onChange={next => {
        const info = engines.find(each => each.name === next);
        void model.openFor({
          engine: next,
          namespace: info?.default_namespace ?? ''
        });
      }}
    />
  );
}

function StartChoice(): React.JSX.Element | null {
  const { model, trans } = useLaunch();
  const { path, start, lastTime, clone } = model.state;
  const starts: [Start, string][] = [];
  if (path !== null) {
    starts.push(['defaults', trans.__('Defaults')]);
  }
  if (lastTime) {
    const time = formatTime(lastTime.time, trans);
    starts.unshift(['last', trans.__('As last time (%1)', time)]);
  }
  if (clone) {
    starts.unshift(['job', clone.name]);
  }
  if (starts.length < 2) {
    return null; // nothing to choose from
  }
  return (
    <label className="jp-t9k-Launch-start">
      <span>{trans.__('Start from')}</span>
      <Select
        value={start}
        onChange={event => void model.startFrom(event.target.value as Start)}
      >
        {starts.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </Select>
    </label>
  );
}

function describeScript(
  { distributed, writes_events, options }: ScriptInfo,
  trans: TranslationBundle
): string {
  const kind = distributed
    ? trans.__('DDP script')
    : trans.__('Script without a process group');
  if (!writes_events) {
    return kind;
  }
  const flag = options
    .flatMap(option => option.flags)
    .find(name => /^--(log_?dir|tensorboard_dir)$/.test(name));
  return flag
    ? trans.__('%1, writes events to %2', kind, flag)
    : trans.__('%1, writes events', kind);
}
