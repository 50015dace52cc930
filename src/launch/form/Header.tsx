/** Header of the launch form: engine, facts about the script and the cluster, and the source of the form's values. */
import { ellipsesIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { EngineInfo, ScriptInfo } from '../../api/types';
import { optionKey } from '../content/scriptOptions';
import { LaunchModel } from '../model/launch';
import { IconButton } from '../../ui/Buttons';
import { openMenu } from '../../common/menu';
import { useLaunch, useModel } from '../parts/context';
import { EngineChoice, EngineDescription } from '../fields/EngineChoice';
import { StartMenu } from '../start/StartMenu';

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
      <StartMenu />
      <IconButton
        icon={ellipsesIcon}
        label={trans.__('More about %1', name)}
        aria-haspopup="menu"
        aria-expanded={false}
        onClick={event => openMore(event.currentTarget)}
      />
      <EngineDescription />
    </div>
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

/** Return a description of a script: how it trains, and the option for its event files. */
function describeScript(script: ScriptInfo, trans: TranslationBundle): string {
  const kind = script.own_processes
    ? trans.__(
        '%1 that starts its own processes',
        describeMethod(script, trans)
      )
    : describeMethod(script, trans);
  if (!script.writes_events) {
    return kind;
  }
  const option = script.options.find(({ roles }) => roles.includes('events'));
  return option
    ? trans.__('%1, writes events to %2', kind, optionKey(option))
    : trans.__('%1, writes events', kind);
}

/** Return the name of what distributes a script's training. */
function describeMethod(
  { method, distributed }: ScriptInfo,
  trans: TranslationBundle
): string {
  switch (method) {
    case 'ddp':
      return trans.__('DDP script');
    case 'fsdp':
      return trans.__('FSDP script');
    case 'deepspeed':
      return trans.__('DeepSpeed script');
    case 'accelerate':
      return trans.__('Accelerate script');
    case 'lightning':
      return trans.__('Lightning script');
    case 'fabric':
      return trans.__('Lightning Fabric script');
    case 'trainer':
      return trans.__('Hugging Face Trainer script');
    case 'horovod':
      return trans.__('Horovod script');
    case 'rpc':
      return trans.__('RPC script');
    case 'none':
      return trans.__('Not a distributed script');
    default:
      return distributed ? trans.__('Distributed script') : trans.__('Script');
  }
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
