import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { DeviceInfo, JobSpec, Machine } from '../../api/types';
import { formatMemory } from '../../model/format';
import { joinWords, splitWords } from '../../model/shellWords';
import { Segments } from '../Segments';
import { useLaunch } from './context';
import { CheckField, NumberField, Row, TextField } from './fields';
import { Group, IFolding } from './Group';

const GPU = 'nvidia.com/gpu';

/** How many processes, on how many nodes, with what. */
export function SizeGroup({
  folding
}: {
  folding: IFolding;
}): React.JSX.Element {
  const { model, trans } = useLaunch();
  const { spec } = model.form;
  const { engine, prefill } = model.state;
  const machine =
    prefill?.engines.find(info => info.name === engine)?.machine ?? null;
  const [group] = spec.replica_specs;
  const devices = machine?.devices ?? [];
  return (
    <Group
      name="size"
      title={trans.__('Size')}
      summary={describeSize(spec, trans)}
      folding={folding}
    >
      {spec.torchrun && (
        <ProcessesField torchrun={spec.torchrun} machine={machine} />
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
      <TorchrunFields />
    </Group>
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

function ProcessesField({
  torchrun,
  machine
}: {
  torchrun: NonNullable<JobSpec['torchrun']>;
  machine: Machine | null;
}): React.JSX.Element {
  const { model, trans } = useLaunch();
  const field = '/torchrun/proc_per_node';
  const { proc_per_node } = torchrun;
  const set = (count: number | 'gpu') =>
    model.edit({ torchrun: { ...torchrun, proc_per_node: count } }, field);
  const perGpu = proc_per_node === 'gpu';
  const size = machine && describeMachine(machine, trans);
  // Beside the choice there is no room for it.
  const hasGpus = perGpu || (machine?.devices.length ?? 0) > 0;
  return (
    <Row field={field} caption={hasGpus && size}>
      {hasGpus && (
        <Segments
          aria-label={trans.__('How many processes')}
          data-field={perGpu ? field : undefined}
          segments={[
            { value: 'gpu', label: trans.__('One for each GPU') },
            { value: 'count', label: trans.__('A number') }
          ]}
          value={perGpu ? 'gpu' : 'count'}
          onChange={value => set(value === 'gpu' ? 'gpu' : 2)}
        />
      )}
      {proc_per_node !== 'gpu' && (
        <NumberField
          field={field}
          value={proc_per_node}
          min={1}
          max={1024}
          onChange={set}
        />
      )}
      {!hasGpus && size && <span className="jp-t9k-caption">{size}</span>}
    </Row>
  );
}

function TorchrunFields(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const { torchrun } = model.form.spec;
  // What was set comes back when torchrun is switched on again.
  const last = React.useRef(torchrun);
  last.current = torchrun ?? last.current;
  const field = '/torchrun/extra_options';
  const options = torchrun?.extra_options ?? [];
  const setOptions = (text: string) => {
    const { words } = splitWords(text);
    if (!words) {
      const problem = trans.__('A quotation mark is not closed.');
      model.setDraft(field, { text, problem });
    } else if (torchrun) {
      model.edit({ torchrun: { ...torchrun, extra_options: words } }, field);
    }
  };
  const [typed, setTyped] = React.useState<string | null>(null);
  return (
    <>
      <div className="jp-t9k-Launch-row">
        <span />
        <div className="jp-t9k-Launch-control">
          <CheckField
            field="/torchrun"
            checked={torchrun !== null}
            onChange={on =>
              model.edit(
                {
                  torchrun: on
                    ? (last.current ?? {
                        proc_per_node: 1,
                        max_restarts: 0,
                        rdzv_backend: 'c10d',
                        extra_options: []
                      })
                    : null
                },
                field
              )
            }
          >
            {trans.__('Start the processes with torchrun')}
          </CheckField>
          {!torchrun && (
            <div className="jp-t9k-caption">
              {trans.__(
                'Off: each node runs the script once, as one process without a process group.'
              )}
            </div>
          )}
        </div>
      </div>
      {torchrun && (
        <Row field={field}>
          <TextField
            code
            field={field}
            value={
              model.form.drafts[field]?.text ?? typed ?? joinWords(options)
            }
            placeholder={trans.__('none')}
            onChange={text => {
              setTyped(text);
              setOptions(text);
            }}
            onBlur={() => setTyped(null)}
          />
        </Row>
      )}
    </>
  );
}

function describeSize(spec: JobSpec, trans: TranslationBundle): string {
  const [{ replicas }] = spec.replica_specs;
  const nodes = replicas > 1 ? trans._n('%1 node', '%1 nodes', replicas) : null;
  const processes = !spec.torchrun
    ? trans.__('torchrun off')
    : spec.torchrun.proc_per_node === 'gpu'
      ? trans.__('one process for each GPU')
      : trans._n('%1 process', '%1 processes', spec.torchrun.proc_per_node);
  return [nodes, processes].filter(Boolean).join(' × ');
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
