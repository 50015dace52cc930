/** Capacity of this machine in the sidebar. */

import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { DeviceInfo, EngineInfo, JobSummary, Machine } from '../../api/types';
import { formatFree, formatMemory } from '../../common/format';
import { isOnMachine } from '../../jobs/engines';
import { CapacityRow } from './CapacityRow';

interface IMachineCapacityProps {
  machine: Machine;
  engines: readonly EngineInfo[];
  jobs: readonly JobSummary[];
  /** “as of 10:42” while the connection is lost. */
  note: string | null;
  trans: TranslationBundle;
}

/**
 * Rows of the devices, CPUs and memory of this machine. In the bars, blue is the user's own usage
 * and grey that of others.
 */
export function MachineCapacity({
  machine,
  engines,
  jobs,
  note,
  trans
}: IMachineCapacityProps): React.JSX.Element {
  const running = jobs.filter(
    job => isOnMachine(engines, job.engine) && job.phase === 'Running'
  );
  const processes = running.reduce(
    (sum, job) => sum + (job.processes ?? job.replicas),
    0
  );
  const { cpus, memory_total, memory_available, devices } = machine;
  return (
    <section
      className="jp-t9k-Capacity"
      aria-label={trans.__('Capacity of this machine')}
    >
      <header>
        <strong>{trans.__('This machine')}</strong>
        <span className="jp-t9k-caption">{note ?? machine.hostname}</span>
      </header>
      {[...byModel(devices)].map(([name, group]) => (
        <Devices
          key={name}
          name={name}
          devices={group}
          names={running.map(job => job.name)}
          trans={trans}
        />
      ))}
      <CapacityRow
        name={trans.__('CPU')}
        shares={{ mine: processes / cpus, others: 0, out: 0 }}
        title={trans._n(
          'Your running jobs have %1 process.',
          'Your running jobs have %1 processes.',
          processes
        )}
      >
        {trans._n('%1 core', '%1 cores', cpus)}
      </CapacityRow>
      {memory_total !== null && memory_available !== null && (
        <CapacityRow
          name={trans.__('Memory')}
          shares={{
            mine: 0,
            others: 1 - memory_available / memory_total,
            out: 0
          }}
          title={trans.__(
            '%1 of %2 are free.',
            formatFree('memory', memory_available),
            formatMemory(memory_total)
          )}
        >
          <b>{formatFree('memory', memory_available)}</b>{' '}
          <span>{trans.__('free')}</span>
        </CapacityRow>
      )}
    </section>
  );
}

/** Row of the devices of one kind. */
function Devices(props: {
  name: string;
  devices: DeviceInfo[];
  /** Names of the user's own running jobs. */
  names: string[];
  trans: TranslationBundle;
}): React.JSX.Element {
  const { name, devices, names, trans } = props;
  const used = devices.filter(({ used_by }) => used_by !== null);
  const mine = used.filter(({ claimed_by }) =>
    names.some(name => name === claimed_by)
  );
  const total = devices.length;
  return (
    <CapacityRow
      name={name}
      shares={{
        mine: mine.length / total,
        others: (used.length - mine.length) / total,
        out: 0
      }}
      title={devices.map(device => deviceTitle(device, trans)).join('\n')}
    >
      <b>{total - used.length}</b> <span>{trans.__('of %1 free', total)}</span>
    </CapacityRow>
  );
}

/** Group devices by model. The vendor's name is omitted, because the row is narrow. */
function byModel(devices: readonly DeviceInfo[]): Map<string, DeviceInfo[]> {
  const groups = new Map<string, DeviceInfo[]>();
  for (const device of devices) {
    const model = device.name.replace(/^(NVIDIA|AMD)\s+/, '');
    groups.set(model, [...(groups.get(model) ?? []), device]);
  }
  return groups;
}

function deviceTitle(device: DeviceInfo, trans: TranslationBundle): string {
  return `${device.name} ${device.index}: ${device.used_by ?? trans.__('free')}`;
}
