import { ellipsesIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { EngineInfo, ScriptInfo } from '../../api/types';
import { formatTime } from '../../model/format';
import { Start } from '../../model/launchState';
import { IconButton } from '../Buttons';
import { openMenu } from '../menu';
import { useLaunch } from './context';
import { EngineChoice } from './EngineChoice';
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
  const about = [
    prefill && isRead ? describeScript(prefill.script, trans) : null,
    model.engine && describeCluster(model.engine, trans)
  ].filter(Boolean);
  const openMore = (anchor: HTMLElement) =>
    openMenu(anchor, [
      ...(path === null
        ? []
        : [
            {
              label: trans.__('Open %1', name),
              execute: () => actions.openFile(path)
            },
            {
              label: trans.__('Read %1 Again', name),
              disabled: model.isLocked ? trans.__('The form is locked.') : null,
              execute: () => void model.readScript()
            },
            null
          ]),
      {
        label: trans.__('Paste a Manifest…'),
        execute: () => actions.pasteManifest()
      }
    ]);
  return (
    <div className="jp-t9k-Launch-header">
      <EngineChoice />
      <span
        className="jp-t9k-Launch-about jp-t9k-caption"
        title={about.join(' · ')}
      >
        {about.join(' · ')}
      </span>
      <StartChoice />
      <IconButton
        icon={ellipsesIcon}
        label={trans.__('More about %1', name)}
        aria-haspopup="menu"
        aria-expanded={false}
        onClick={event => openMore(event.currentTarget)}
      />
    </div>
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
        disabled={model.isLocked}
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

/** What of the cluster was found: “PyTorchJob of kubeflow.org/v1, the lab’s own image”. */
function describeCluster(
  { cluster }: EngineInfo,
  trans: TranslationBundle
): string | null {
  if (!cluster) {
    return null;
  }
  const where =
    cluster.context === null
      ? cluster.found
      : trans.__('%1 in %2', cluster.found, cluster.context);
  return cluster.image ? trans.__('%1, the lab’s own image', where) : where;
}
