import { closeIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { JobSpec, Volume } from '../../api/types';
import { IconButton, LinkButton } from '../Buttons';
import { Combobox, IChoice } from './Combobox';
import { useLaunch } from './context';
import { FieldErrors, Select, TextField, useField } from './fields';
import { Group, IFolding } from './Group';

type Mount = JobSpec['mounts'][number];

/** The volumes that the job sees, and where. */
export function DataGroup({
  folding
}: {
  folding: IFolding;
}): React.JSX.Element {
  const { model, trans } = useLaunch();
  const { mounts } = model.form.spec;
  return (
    <Group
      name="data"
      title={trans.__('Data')}
      summary={
        mounts.map(mount => describeMount(mount, trans)).join(', ') ||
        trans.__('no volumes')
      }
      folding={folding}
    >
      <Mounts mounts={mounts} />
    </Group>
  );
}

function Mounts({ mounts }: { mounts: Mount[] }): React.JSX.Element {
  const { model, trans, reveal } = useLaunch();
  const { engine, namespace, volumes } = model.state;
  React.useEffect(() => {
    if (!model.state.volumes) {
      void model.loadVolumes();
    }
  }, [model, engine, namespace]);
  const known = sorted(volumes?.list ?? []);
  const set = (next: Mount[], index: number) =>
    model.edit({ mounts: next }, `/mounts/${index}`);
  const add = () => {
    const free = known.find(
      ({ claim }) => !mounts.some(mount => mount.claim === claim)
    );
    set([...mounts, mountOf(free)], mounts.length);
    reveal(`/mounts/${mounts.length}/claim`);
  };
  return (
    <>
      {mounts.length > 0 && (
        <div className="jp-t9k-Launch-mounts" role="group">
          <div className="jp-t9k-Launch-mountHead" aria-hidden>
            <span>{trans.__('Volume (PVC)')}</span>
            <span>{trans.__('Path in the job')}</span>
            <span>{trans.__('Folder of it')}</span>
            <span>{trans.__('Access')}</span>
          </div>
          {mounts.map((mount, index) => (
            <MountRow
              key={index}
              mount={mount}
              index={index}
              volumes={known}
              onChange={changes =>
                set(
                  mounts.map((other, i) =>
                    i === index ? { ...other, ...changes } : other
                  ),
                  index
                )
              }
              onRemove={() => {
                set(
                  mounts.filter((_, i) => i !== index),
                  index
                );
                reveal(index ? `/mounts/${index - 1}/claim` : '/mounts');
              }}
            />
          ))}
        </div>
      )}
      {volumes?.failure && (
        <p className="jp-t9k-caption">
          {volumes.failure.message} {volumes.failure.hint}{' '}
          {trans.__('Type the names of the PVCs.')}
        </p>
      )}
      <LinkButton data-field="/mounts" onClick={add}>
        {trans.__('Add volume')}
      </LinkButton>
    </>
  );
}

function MountRow({
  mount,
  index,
  volumes,
  onChange,
  onRemove
}: {
  mount: Mount;
  index: number;
  volumes: readonly Volume[];
  onChange(changes: Partial<Mount>): void;
  onRemove(): void;
}): React.JSX.Element {
  const { trans, prefix } = useLaunch();
  const field = `/mounts/${index}`;
  const volume = volumes.find(({ claim }) => claim === mount.claim);
  const choices = volumes.map(({ claim, ...about }): IChoice => ({
    value: claim,
    note: describeVolume({ claim, ...about }, trans)
  }));
  const parts = ['claim', 'mount_path', 'sub_path', 'read_only'];
  const said = [
    volume ? describeVolume(volume, trans) : null,
    mount.read_only && volume?.lab_path ? trans.__('read only') : null
  ].filter(Boolean);
  return (
    <div
      className="jp-t9k-Launch-mount"
      role="group"
      aria-label={trans.__('Volume %1', mount.claim || index + 1)}
    >
      <Combobox
        code
        field={`${field}/claim`}
        aria-label={trans.__('Volume (PVC)')}
        value={mount.claim}
        choices={choices}
        placeholder={trans.__('name of a PVC')}
        onChange={claim => {
          const chosen = volumes.find(other => other.claim === claim);
          onChange(chosen ? mountOf(chosen) : { claim });
        }}
      />
      <TextField
        code
        field={`${field}/mount_path`}
        aria-label={trans.__('Path in the job')}
        value={mount.mount_path}
        title={mount.mount_path}
        placeholder={trans.__('such as /data')}
        onChange={mount_path => onChange({ mount_path })}
      />
      <TextField
        code
        field={`${field}/sub_path`}
        aria-label={trans.__('Folder of the volume')}
        value={mount.sub_path ?? ''}
        placeholder={trans.__('all of it')}
        onChange={text => onChange({ sub_path: text || null })}
      />
      <Select
        {...useField(`${field}/read_only`)}
        aria-label={trans.__('Access')}
        value={mount.read_only ? 'read' : 'write'}
        onChange={event =>
          onChange({ read_only: event.target.value === 'read' })
        }
      >
        <option value="write">{trans.__('Read and write')}</option>
        <option value="read">{trans.__('Read only')}</option>
      </Select>
      <IconButton
        icon={closeIcon}
        label={trans.__('Remove volume %1', mount.claim || index + 1)}
        onClick={onRemove}
      />
      <div className="jp-t9k-Launch-mountSaid">
        <span id={`${prefix}${field}/claim-caption`} className="jp-t9k-caption">
          {said.join(' · ')}
        </span>
        {parts.map(part => (
          <FieldErrors key={part} field={`${field}/${part}`} />
        ))}
      </div>
    </div>
  );
}

/** The lab's own first, then by name. */
function sorted(volumes: readonly Volume[]): Volume[] {
  return [...volumes].sort(
    (a, b) =>
      Number(b.lab_path !== null) - Number(a.lab_path !== null) ||
      a.claim.localeCompare(b.claim)
  );
}

function mountOf(volume: Volume | undefined): Mount {
  return {
    claim: volume?.claim ?? '',
    mount_path: volume?.mount_path ?? (volume ? `/${volume.claim}` : ''),
    sub_path: volume?.sub_path ?? null,
    read_only: false,
    volume: null
  };
}

function describeMount(
  { claim, mount_path, read_only }: Mount,
  trans: TranslationBundle
): string {
  return read_only
    ? trans.__('PVC %1 at %2 (read only)', claim, mount_path)
    : trans.__('PVC %1 at %2', claim, mount_path);
}

/** “as in this lab · 100Gi · ReadWriteMany”. */
function describeVolume(volume: Volume, trans: TranslationBundle): string {
  const { lab_path, capacity, access_modes, phase } = volume;
  return [
    lab_path === null ? null : trans.__('this lab has it at %1', lab_path),
    capacity,
    access_modes.join(', '),
    phase === null || phase === 'Bound' ? null : phase
  ]
    .filter(Boolean)
    .join(' · ');
}
