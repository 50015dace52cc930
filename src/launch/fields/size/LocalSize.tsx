/** Fields of the size of a job without pods: processes, GPUs and simulated nodes. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { MAX_NODES, MAX_PROCESSES } from '../../../api/constants';
import { DeviceInfo, JobSpec, Machine } from '../../../api/types';
import { formatMemory, listed } from '../../../common/format';
import { DEVICE, GPU } from '../../content/form';
import { useLaunch, useModel } from '../../parts/context';
import { NumberField } from '../../parts/NumberField';
import { Row } from '../../parts/Row';
import { ProcessesField } from './ProcessesField';

const REPLICAS = '/replica_specs/0/replicas';

const NO_DEVICES: readonly DeviceInfo[] = [];

/** Fields of the size of a job whose engine has no pods. */
export function LocalSize(): React.JSX.Element {
  const { trans } = useLaunch();
  const hasReplicas = useModel(model => model.offers('replicas'));
  const machine = useModel(({ engine }) => engine?.machine ?? null);
  const devices = machine?.devices ?? NO_DEVICES;
  return (
    <>
      <ProcessesField
        hasGpus={devices.length > 0}
        size={machine && describeMachine(machine, trans)}
      />
      <DevicesField devices={devices} />
      {machine?.devices_problem && (
        <p role="status">{machine.devices_problem}</p>
      )}
      {hasReplicas && <NodesField />}
    </>
  );
}

/** Number of GPUs of each node; hidden if the machine has no GPU and the job requests none. */
function DevicesField({
  devices
}: {
  devices: readonly DeviceInfo[];
}): React.JSX.Element | null {
  const { model, trans } = useLaunch();
  const count = useModel(
    ({ form }) => form.spec.replica_specs[0].resources.device?.count ?? null
  );
  if (!devices.length && count === null) {
    return null;
  }
  return (
    <Row
      field={DEVICE}
      caption={
        <>
          {trans.__(
            'The job waits until these GPUs are free, then uses them exclusively.'
          )}
          <UsedDevices devices={devices} />
        </>
      }
    >
      <NumberField
        field={DEVICE}
        value={count ?? 0}
        min={0}
        max={MAX_PROCESSES}
        onChange={next => {
          const [{ resources }] = model.form.spec.replica_specs;
          const { name } = resources.device ?? { name: GPU };
          const device = next ? { name, count: next } : null;
          model.editReplicas({ resources: { ...resources, device } }, DEVICE);
        }}
      />
      <span className="jp-t9k-caption">
        {trans.__(
          'of %1 on this machine, %2 free',
          devices.length,
          devices.filter(isFree).length
        )}
      </span>
    </Row>
  );
}

function NodesField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const replicas = useModel(({ form }) => form.spec.replica_specs[0].replicas);
  const about = useModel(({ form }) => describeNodes(form.spec, trans));
  return (
    <Row field={REPLICAS}>
      <NumberField
        field={REPLICAS}
        value={replicas}
        min={1}
        max={MAX_NODES}
        onChange={next => model.editReplicas({ replicas: next }, REPLICAS)}
      />
      <span className="jp-t9k-caption">{about}</span>
    </Row>
  );
}

/** List of the GPUs in use, with their users. A notebook's process may use most of a GPU's memory. */
function UsedDevices({
  devices
}: {
  devices: readonly DeviceInfo[];
}): React.JSX.Element | null {
  const { trans } = useLaunch();
  const used = devices.filter(device => !isFree(device));
  return used.length ? (
    <ul
      className="jp-t9k-Launch-devices"
      aria-label={trans.__('GPUs that are in use')}
    >
      {used.map(device => (
        <li key={device.id}>
          <b>{trans.__('GPU %1', device.index)}</b> {device.used_by}{' '}
          {device.memory_used !== null &&
            device.memory_total !== null &&
            trans.__(
              '(%1 of %2 in use)',
              formatMemory(device.memory_used),
              formatMemory(device.memory_total)
            )}
        </li>
      ))}
    </ul>
  ) : null;
}

function isFree(device: DeviceInfo): boolean {
  return device.used_by === null;
}

/** Return the text beside the number of nodes. */
function describeNodes(spec: JobSpec, trans: TranslationBundle): string {
  const [{ replicas }] = spec.replica_specs;
  if (!spec.torchrun && replicas > 1) {
    return trans._n(
      '%1 process on this machine',
      '%1 processes on this machine',
      replicas
    );
  }
  const each = spec.torchrun?.proc_per_node;
  if (replicas === 1) {
    return trans.__(
      'Use more than 1 to simulate several nodes on this machine'
    );
  }
  return typeof each === 'number'
    ? trans.__(
        '%1 torchrun agents on this machine: %1 × %2 = %3 processes',
        replicas,
        each,
        replicas * each
      )
    : trans.__('%1 torchrun agents on this machine', replicas);
}

/** Return a description of a machine, such as “8 CPU cores, 6.1 GiB memory free, no GPU on this machine”. */
function describeMachine(machine: Machine, trans: TranslationBundle): string {
  const cores = trans._n('%1 CPU core', '%1 CPU cores', machine.cpus);
  const memory =
    machine.memory_available !== null
      ? trans.__('%1 memory free', formatMemory(machine.memory_available))
      : null;
  const gpus = machine.devices.length ? null : trans.__('no GPU');
  const parts = [cores, memory, gpus].filter(part => part !== null);
  return trans.__('%1 on this machine', listed(parts));
}
