/** Header of the launch form: engine, facts about the script and the cluster, and the source of the form's values. */
import { ellipsesIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { EngineInfo, ScriptInfo } from '../../api/types';
import { formatTime } from '../../common/format';
import { LaunchModel } from '../model/launch';
import { Start } from '../model/state';
import { IconButton } from '../../ui/Buttons';
import { openMenu } from '../../common/menu';
import { useLaunch, useModel } from '../parts/context';
import { EngineChoice } from '../fields/EngineChoice';
import { Select } from '../parts/choices';

/** Header of the launch form. */
export function Header(): React.JSX.Element {
  const { model, trans, actions } = useLaunch();
  const name = useModel(now => now.name);
  const about = useModel(now => describe(now, trans));
  const path = useModel(({ state }) => state.path);
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
      <span className="jp-t9k-Launch-about jp-t9k-caption" title={about}>
        {about}
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

/** Choice of the source of the form's values; hidden if there is only one source. */
function StartChoice(): React.JSX.Element | null {
  const { model, trans } = useLaunch();
  const { path, start, lastTime, clone } = useModel(({ state }) => ({
    path: state.path,
    start: state.start,
    lastTime: state.lastTime,
    clone: state.clone
  }));
  const isLocked = useModel(now => now.isLocked);
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
    return null;
  }
  return (
    <label className="jp-t9k-Launch-start">
      <span>{trans.__('Start from')}</span>
      <Select
        value={start}
        disabled={isLocked}
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

/** Return a one-line description of the script and the cluster. */
function describe(
  { state: { prefill, path }, checks, engine }: LaunchModel,
  trans: TranslationBundle
): string {
  const isRead =
    path !== null &&
    !checks.some(
      ({ level, field }) => level === 'error' && field === '/entrypoint/value'
    );
  return [
    prefill && isRead ? describeScript(prefill.script, trans) : null,
    engine && describeCluster(engine, trans)
  ]
    .filter(Boolean)
    .join(' · ');
}

/** Return a description of a script: its use of `torch.distributed`, and the option for its event files. */
function describeScript(
  { distributed, writes_events, options }: ScriptInfo,
  trans: TranslationBundle
): string {
  const kind =
    distributed === null
      ? trans.__('Script')
      : distributed
        ? trans.__('Distributed script')
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

/** Return a description of the engine's cluster, such as “PyTorchJob of kubeflow.org/v1, the lab’s own image”. */
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
