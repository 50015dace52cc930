import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { JobSpec } from '../../api/types';
import { amountNote } from '../../model/capacityText';
import { DEVICE, GPU } from '../../model/launchForm';
import { useShown, useSignal } from '../hooks';
import { useLaunch } from './context';
import { DeviceKind } from './DeviceKind';
import { CheckField, NumberField, Row, TextField } from './fields';
import { FreeNow } from './FreeNow';
import { ProcessesField } from './ProcessesField';

type Group = JobSpec['replica_specs'][number];

const REPLICAS = '/replica_specs/0/replicas';

/** How clusters count numbers and bytes: 4, 500m, 16Gi. */
const QUANTITY = /^\d+(\.\d+)?(m|k|[KMGTPE]i|[MGTPE])?$/;

/** What the job asks of a cluster: nodes, and what each of them has for it. */
export function ClusterSize(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const { spec } = model.form;
  const [group, ...others] = spec.replica_specs;
  const { device } = group.resources;
  const root = React.useRef<HTMLDivElement>(null);
  useCapacity(useShown(root));
  return (
    <div className="jp-t9k-Launch-size" ref={root}>
      <div>
        <NodesField group={group} />
      </div>
      <FreeNow />
      <div>
        {others.length > 0 && (
          <p className="jp-t9k-caption">
            {trans._n(
              'The form shows the replica type %2; %1 more is in the manifest.',
              'The form shows the replica type %2; %1 more are in the manifest.',
              others.length,
              group.type
            )}
          </p>
        )}
        {spec.torchrun && (
          <ProcessesField
            torchrun={spec.torchrun}
            hasGpus={(device?.count ?? 0) > 0}
          />
        )}
        <QuantityRow part="cpu" unit={trans.__('cores of each node')} />
        <QuantityRow part="memory" unit={trans.__('of each node')} />
        <SharedMemoryField />
        {spec.torchrun && <ElasticField elastic={spec.elastic} />}
      </div>
    </div>
  );
}

/** Follow what is free while the fields are shown. */
function useCapacity(shown: boolean): void {
  const { model } = useLaunch();
  const { capacity } = model;
  useSignal(capacity.changed);
  React.useEffect(() => {
    const watch = shown ? capacity.watch() : null;
    return () => watch?.dispose();
  }, [capacity, shown]);
  const { engine, namespace } = model.state;
  const { known } = capacity;
  React.useEffect(() => {
    if (shown) {
      void capacity.askLimits();
    }
  }, [capacity, shown, engine, namespace, known]);
}

function NodesField({ group }: { group: Group }): React.JSX.Element {
  const { model, trans, prefix } = useLaunch();
  const { resources, replicas } = group;
  const device = resources.device ?? { name: GPU, count: 0 };
  const setDevice = (changes: Partial<typeof device>) => {
    const next = { ...device, ...changes };
    model.editReplicas({ resources: { ...resources, device: next } }, DEVICE);
  };
  return (
    <Row
      field={REPLICAS}
      others={[DEVICE]}
      label={trans.__('Nodes × GPUs')}
      caption={describeTotal(model.form.spec, trans)}
    >
      <NumberField
        field={REPLICAS}
        aria-label={trans.__('Nodes')}
        value={replicas}
        min={1}
        max={10000}
        onChange={next => model.editReplicas({ replicas: next }, REPLICAS)}
      />
      <span aria-hidden>×</span>
      <NumberField
        field={DEVICE}
        aria-label={trans.__('GPUs on each node')}
        value={device.count}
        min={0}
        max={1024}
        onChange={count => setDevice({ count })}
      />
      <label
        className="jp-t9k-visuallyHidden"
        htmlFor={`${prefix}${DEVICE}/name`}
      >
        {trans.__('GPUs')}
      </label>
      <DeviceKind
        field={`${DEVICE}/name`}
        name={device.name}
        disabled={!device.count}
      />
    </Row>
  );
}

/** “8 GPUs, 8 processes”: what the numbers amount to. */
function describeTotal(spec: JobSpec, trans: TranslationBundle): string | null {
  const [{ replicas, resources }] = spec.replica_specs;
  const count = resources.device?.count ?? 0;
  const each = spec.torchrun?.proc_per_node ?? 1;
  const processes = replicas * (each === 'gpu' ? count : each);
  return [
    count
      ? trans._n('%1 GPU', '%1 GPUs', replicas * count)
      : trans.__('No GPU'),
    processes ? trans._n('%1 process', '%1 processes', processes) : null
  ]
    .filter(Boolean)
    .join(', ');
}

/** What each node asks for, and what it may use at most. */
function QuantityRow({
  part,
  unit
}: {
  part: 'cpu' | 'memory';
  unit: string;
}): React.JSX.Element {
  const { model, trans, prefix } = useLaunch();
  const [{ resources }] = model.form.spec.replica_specs;
  const free = amountNote(
    part,
    model.capacity.mostFree(part, resources.device, model.nodeLabels),
    trans
  );
  const can = model.can('resource_limits');
  const place = `/replica_specs/0/resources/${part}`;
  const set = (bound: 'request' | 'limit', value: string | null) => {
    const quantity = { ...resources[part], [bound]: value };
    model.editReplicas(
      { resources: { ...resources, [part]: quantity } },
      `${place}/${bound}`
    );
  };
  return (
    <Row field={`${place}/limit`} others={[`${place}/request`]}>
      <span className="jp-t9k-Launch-several">
        <QuantityField
          field={`${place}/limit`}
          value={resources[part].limit}
          placeholder={trans.__('no limit')}
          disabled={!can.supported}
          onChange={value => set('limit', value)}
        />
        <label htmlFor={`${prefix}${place}/request`}>
          {trans.__('request')}
        </label>
        <QuantityField
          field={`${place}/request`}
          value={resources[part].request}
          placeholder={resources[part].limit ?? trans.__('none')}
          disabled={!can.supported}
          onChange={value => set('request', value)}
        />
        <span className="jp-t9k-caption">
          {[unit, free].filter(Boolean).join(' · ')}
        </span>
      </span>
    </Row>
  );
}

function SharedMemoryField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const field = '/shm/size_limit';
  const { shm } = model.form.spec;
  // What was set comes back when it is switched on again.
  const last = React.useRef(shm);
  last.current = shm ?? last.current;
  return (
    <Row
      field={field}
      caption={
        shm
          ? null
          : trans.__(
              'Without it data loaders with workers die for lack of shared memory.'
            )
      }
    >
      <CheckField
        field="/shm"
        checked={shm !== null}
        onChange={on =>
          model.edit(
            {
              shm: on
                ? (last.current ?? { size_limit: null, volume: null })
                : null
            },
            field
          )
        }
      >
        {trans.__('at /dev/shm')}
      </CheckField>
      {shm && (
        <>
          <QuantityField
            field={field}
            value={shm.size_limit}
            placeholder={trans.__('no limit')}
            onChange={size_limit =>
              model.edit({ shm: { ...shm, size_limit } }, field)
            }
          />
          <span className="jp-t9k-caption">
            {trans.__('inside the memory limit')}
          </span>
        </>
      )}
    </Row>
  );
}

function ElasticField({
  elastic
}: {
  elastic: JobSpec['elastic'];
}): React.JSX.Element {
  const { model, trans } = useLaunch();
  const can = model.can('elastic');
  const [{ replicas }] = model.form.spec.replica_specs;
  const bound = (name: 'min' | 'max', label: string): React.JSX.Element => (
    <NumberField
      field={`/elastic/${name}`}
      aria-label={label}
      value={elastic?.[name] ?? replicas}
      min={1}
      max={10000}
      onChange={value =>
        model.edit(
          { elastic: elastic && { ...elastic, [name]: value } },
          `/elastic/${name}`
        )
      }
    />
  );
  return (
    <Row
      field="/elastic/min"
      others={['/elastic/max', '/elastic/expected']}
      caption={can.reason}
      group
    >
      <CheckField
        field="/elastic"
        checked={elastic !== null}
        disabled={!can.supported}
        onChange={on => {
          const bounds = { min: 1, max: replicas, expected: null };
          model.edit({ elastic: on ? bounds : null }, '/elastic/min');
        }}
      >
        {trans.__('Nodes may come and go')}
      </CheckField>
      {elastic && (
        <>
          {bound('min', trans.__('Least nodes'))}
          <span>{trans.__('to')}</span>
          {bound('max', trans.__('Most nodes'))}
        </>
      )}
    </Row>
  );
}

interface IQuantityFieldProps {
  field: string;
  value: string | null;
  placeholder: string;
  disabled?: boolean;
  onChange(value: string | null): void;
}

/** A number of cores or bytes as clusters write it. */
function QuantityField({
  field,
  value,
  onChange,
  ...props
}: IQuantityFieldProps): React.JSX.Element {
  const { model, trans } = useLaunch();
  return (
    <TextField
      {...props}
      field={field}
      size={8}
      value={model.form.drafts[field]?.text ?? value ?? ''}
      onChange={text => {
        const quantity = text.trim();
        if (!quantity || QUANTITY.test(quantity)) {
          onChange(quantity || null);
        } else {
          const problem = trans.__('Write it like 4, 500m or 16Gi.');
          model.setDraft(field, { text, problem });
        }
      }}
    />
  );
}
