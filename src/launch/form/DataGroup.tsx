/** The form's group “Data”: the PVCs that are mounted in the job's pods, and config files. */
import { closeIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { JobSpec, Volume } from '../../api/types';
import { IconButton, LinkButton } from '../../ui/Buttons';
import { configFilesOf } from '../content/form';
import { ConfigFiles } from './ConfigFiles';
import { Combobox, IChoice } from '../parts/Combobox';
import { useFixed, useLaunch, useModel } from '../parts/context';
import { FieldErrors, useField, WithLocks } from '../parts/Row';
import { Select } from '../parts/choices';
import { TextField } from '../parts/TextField';
import { Group, IFolding } from '../parts/groups/Group';
import { listed, sentences } from '../../common/format';

type Mount = JobSpec['mounts'][number];

/** Group “Data”. */
export function DataGroup({
  folding
}: {
  folding: IFolding;
}): React.JSX.Element {
  const { trans } = useLaunch();
  const hasFiles = useModel(model => model.offers('config_files'));
  return (
    <Group
      name="data"
      title={trans.__('Data')}
      summary={({ form }) =>
        listed([
          ...form.spec.mounts.map(mount => describeMount(mount, trans)),
          ...configFilesOf(form.spec).map(({ path }) => path)
        ]) || trans.__('no volumes')
      }
      folding={folding}
    >
      <Mounts />
      {hasFiles && <ConfigFiles />}
    </Group>
  );
}

/** Table of the mounted PVCs. The PVCs of the namespace are requested when the table is first shown. */
function Mounts(): React.JSX.Element {
  const { model, trans, reveal } = useLaunch();
  const mounts = useModel(({ form }) => form.spec.mounts);
  const engine = useModel(({ state }) => state.engine);
  const namespace = useModel(({ state }) => state.namespace);
  const volumes = useModel(({ state }) => state.volumes);
  React.useEffect(() => {
    if (!model.state.volumes) {
      void model.loadVolumes();
    }
  }, [model, engine, namespace]);
  const known = React.useMemo(() => sorted(volumes?.list ?? []), [volumes]);
  const isFixed = useFixed('/mounts') !== null;
  const add = () => {
    const free = known.find(
      ({ claim }) => !mounts.some(mount => mount.claim === claim)
    );
    const field = `/mounts/${mounts.length}`;
    model.edit({ mounts: [...mounts, mountOf(free)] }, field);
    reveal(`${field}/claim`);
  };
  return (
    <WithLocks fields={['/mounts']}>
      {mounts.length > 0 && (
        <div className="jp-t9k-Launch-mounts" role="group">
          <div className="jp-t9k-Launch-mountHead" aria-hidden>
            <span>{trans.__('Volume (PVC)')}</span>
            <span>{trans.__('Path in the job')}</span>
            <span>{trans.__('Folder in the volume')}</span>
            <span>{trans.__('Access')}</span>
          </div>
          {mounts.map((mount, index) => (
            <MountRow key={index} mount={mount} index={index} volumes={known} />
          ))}
        </div>
      )}
      {volumes?.failure && (
        <p className="jp-t9k-caption">
          {sentences([volumes.failure.message, volumes.failure.hint])}{' '}
          {trans.__('Type the names of the PVCs.')}
        </p>
      )}
      {!isFixed && (
        <LinkButton data-field="/mounts" onClick={add}>
          {trans.__('Add volume')}
        </LinkButton>
      )}
    </WithLocks>
  );
}

/** Properties of a row of the table of mounted PVCs. */
interface IMountRowProps {
  mount: Mount;
  index: number;
  /** PVCs of the namespace, which the row offers. */
  volumes: readonly Volume[];
}

const MountRow = React.memo(({ mount, index, volumes }: IMountRowProps) => {
  const { model, trans, reveal, prefix } = useLaunch();
  const field = `/mounts/${index}`;
  const change = (changes: Partial<Mount>) => {
    const mounts = model.form.spec.mounts.map((other, i) =>
      i === index ? { ...other, ...changes } : other
    );
    model.edit({ mounts }, field);
  };
  const remove = () => {
    const mounts = model.form.spec.mounts.filter((_, i) => i !== index);
    model.edit({ mounts }, field);
    reveal(index ? `/mounts/${index - 1}/claim` : '/mounts');
  };
  const volume = volumes.find(({ claim }) => claim === mount.claim);
  const choices = volumes.map(({ claim, ...about }): IChoice => ({
    value: claim,
    note: describeVolume({ claim, ...about }, trans)
  }));
  const isFixed = useFixed(field) !== null;
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
          change(chosen ? mountOf(chosen) : { claim });
        }}
      />
      <TextField
        code
        field={`${field}/mount_path`}
        aria-label={trans.__('Path in the job')}
        value={mount.mount_path}
        title={mount.mount_path}
        placeholder={trans.__('such as /data')}
        onChange={mount_path => change({ mount_path })}
      />
      <TextField
        code
        field={`${field}/sub_path`}
        aria-label={trans.__('Folder in the volume')}
        value={mount.sub_path ?? ''}
        placeholder={trans.__('the whole volume')}
        onChange={text => change({ sub_path: text || null })}
      />
      <Select
        {...useField(`${field}/read_only`)}
        aria-label={trans.__('Access')}
        value={mount.read_only ? 'read' : 'write'}
        onChange={event => change({ read_only: event.target.value === 'read' })}
      >
        <option value="write">{trans.__('Read and write')}</option>
        <option value="read">{trans.__('Read only')}</option>
      </Select>
      {isFixed ? (
        <span />
      ) : (
        <IconButton
          icon={closeIcon}
          label={trans.__('Remove volume %1', mount.claim || index + 1)}
          onClick={remove}
        />
      )}
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
});
MountRow.displayName = 'MountRow';

/** Return the volumes in the order of the list: first those that the lab mounts, then the others, each by name. */
function sorted(volumes: readonly Volume[]): Volume[] {
  return [...volumes].sort(
    (a, b) =>
      Number(b.lab_path !== null) - Number(a.lab_path !== null) ||
      a.claim.localeCompare(b.claim)
  );
}

/** Return a new row for a volume, with the lab's path where the lab mounts it; an empty row for undefined. */
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

/** Return a description of a volume, such as “this lab has it at /data · 100Gi · ReadWriteMany”. */
function describeVolume(volume: Volume, trans: TranslationBundle): string {
  const { lab_path, capacity, access_modes, phase } = volume;
  return [
    lab_path === null ? null : trans.__('in this lab at %1', lab_path),
    capacity,
    listed(access_modes),
    phase === null || phase === 'Bound' ? null : phase
  ]
    .filter(Boolean)
    .join(' · ');
}
