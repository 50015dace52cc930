import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { DeviceInfo, JobSpec, Machine } from '../../api/types';
import { formatMemory } from '../../model/format';
import { GPU } from '../../model/launchForm';
import { useLaunch } from './context';
import { NumberField, Row } from './fields';
import { ProcessesField } from './ProcessesField';

/** How many processes, with which of this machine's GPUs. */
export function LocalSize(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const { spec } = model.form;
  const machine = model.engine?.machine ?? null;
  const [group] = spec.replica_specs;
  const devices = machine?.devices ?? [];
  return (
    <>
      {spec.torchrun && (
        <ProcessesField
          torchrun={spec.torchrun}
          hasGpus={devices.length > 0}
          size={machine && describeMachine(machine, trans)}
        />
      )}
      {(devices.length > 0 || group.resources.device !== null) && (
        <Row
          field="/replica_specs/0/resources/device"
          caption={
            <>
              {trans.__(
                'The job waits until they are free, and no other job gets them.'
              )}
              <UsedDevices devices={devices} />
            </>
          }
        >
          <NumberField
            field="/replica_specs/0/resources/device"
            value={group.resources.device?.count ?? 0}
            min={0}
            max={1024}
            onChange={count => {
              const { name } = group.resources.device ?? { name: GPU };
              const device = count ? { name, count } : null;
              model.editReplicas(
                { resources: { ...group.resources, device } },
                '/replica_specs/0/resources/device'
              );
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
      )}
      {machine?.devices_problem && (
        <p role="status">{machine.devices_problem}</p>
      )}
      <Row field="/replica_specs/0/replicas">
        <NumberField
          field="/replica_specs/0/replicas"
          value={group.replicas}
          min={1}
          max={10000}
          onChange={replicas =>
            model.editReplicas({ replicas }, '/replica_specs/0/replicas')
          }
        />
        <span className="jp-t9k-caption">{describeNodes(spec, trans)}</span>
      </Row>
    </>
  );
}

/** Who has the GPUs that are not free: a GPU that a notebook holds may have no memory left. */
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

function describeNodes(spec: JobSpec, trans: TranslationBundle): string {
  const [{ replicas }] = spec.replica_specs;
  const each = spec.torchrun?.proc_per_node;
  if (replicas === 1) {
    return trans.__('more than 1 tries out here what several machines will do');
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

/** The size of a machine: “8 CPU cores, 6.1 GiB memory free, no GPU on this machine”. */
function describeMachine(machine: Machine, trans: TranslationBundle): string {
  const cores = trans._n('%1 CPU core', '%1 CPU cores', machine.cpus);
  const memory =
    machine.memory_available !== null
      ? trans.__('%1 memory free', formatMemory(machine.memory_available))
      : null;
  const gpus = machine.devices.length ? null : trans.__('no GPU');
  const parts = [cores, memory, gpus].filter(part => part !== null);
  return trans.__('%1 on this machine', parts.join(', '));
}
