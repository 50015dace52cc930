/** Fields of the size of a job in a cluster: nodes, accelerators, CPU, memory and shared memory. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { MAX_NODES, MAX_PROCESSES } from '../../../api/constants';
import { JobSpec } from '../../../api/types';
import { amountNote } from '../../../cluster/model/capacityText';
import { DEVICE, GPU } from '../../content/form';
import { useShown } from '../../../common/hooks';
import {
  useDraft,
  useLaunch,
  useModel,
  useOptional
} from '../../parts/context';
import { DeviceKind } from './DeviceKind';
import { CheckField } from '../../parts/choices';
import { NumberField } from '../../parts/NumberField';
import { Row } from '../../parts/Row';
import { TextField } from '../../parts/TextField';
import { FreeNow } from './FreeNow';
import { ProcessesField } from './ProcessesField';
import { listed } from '../../../common/format';

const REPLICAS = '/replica_specs/0/replicas';
const KIND = `${DEVICE}/name`;

/** Kubernetes' notation of quantities, such as 4, 500m or 16Gi. */
const QUANTITY = /^\d+(\.\d+)?(m|k|[KMGTPE]i|[MGTPE])?$/;

/** Fields of the size of a job in a cluster, and the free accelerators beside them. */
export function ClusterSize(): React.JSX.Element {
  const { trans } = useLaunch();
  const [type, ...others] = useModel(({ form }) =>
    form.spec.replica_specs.map(group => group.type)
  );
  const hasGpus = useModel(({ form }) => deviceOf(form.spec).count > 0);
  const hasTorchrun = useModel(({ form }) => form.spec.torchrun !== null);
  const root = React.useRef<HTMLDivElement>(null);
  const shown = useShown(root);
  return (
    <div className="jp-t9k-Launch-size" ref={root}>
      <CapacityWatch shown={shown} />
      <div>
        <NodesField />
      </div>
      <FreeNow />
      <div>
        {others.length > 0 && (
          <p className="jp-t9k-caption">
            {trans._n(
              'The form shows the replica type %2; %1 more is in the manifest.',
              'The form shows the replica type %2; %1 more are in the manifest.',
              others.length,
              type
            )}
          </p>
        )}
        <ProcessesField hasGpus={hasGpus} />
        <QuantityRow part="cpu" unit={trans.__('cores of each node')} />
        <QuantityRow part="memory" unit={trans.__('of each node')} />
        <SharedMemoryField />
        {hasTorchrun && <ElasticField />}
      </div>
    </div>
  );
}

/**
 * Keeps the capacity current while the fields are visible.
 *
 * The component renders nothing, so the updates of the capacity don't render the fields.
 */
function CapacityWatch({ shown }: { shown: boolean }): null {
  const { capacity } = useLaunch().model;
  React.useEffect(() => {
    const watch = shown ? capacity.watch() : null;
    return () => watch?.dispose();
  }, [capacity, shown]);
  const engine = useModel(({ state }) => state.engine);
  const namespace = useModel(({ state }) => state.namespace);
  const known = useModel(model => model.capacity.known);
  React.useEffect(() => {
    if (shown) {
      void capacity.askLimits();
    }
  }, [capacity, shown, engine, namespace, known]);
  return null;
}

/** Return the accelerators that each node requests. */
function deviceOf(spec: JobSpec): { name: string; count: number } {
  return spec.replica_specs[0].resources.device ?? { name: GPU, count: 0 };
}

/** Number of nodes, and number and kind of the accelerators on each node. */
function NodesField(): React.JSX.Element {
  const { model, trans, prefix } = useLaunch();
  const replicas = useModel(({ form }) => form.spec.replica_specs[0].replicas);
  const device = useModel(({ form }) => deviceOf(form.spec));
  const total = useModel(({ form }) => describeTotal(form.spec, trans));
  const setCount = (count: number) => {
    const { spec } = model.form;
    const [{ resources }] = spec.replica_specs;
    const next = { ...deviceOf(spec), count };
    model.editReplicas({ resources: { ...resources, device: next } }, DEVICE);
  };
  return (
    <Row
      field={REPLICAS}
      others={[DEVICE, KIND]}
      label={trans.__('Nodes × GPUs')}
      caption={total}
    >
      <NumberField
        field={REPLICAS}
        aria-label={trans.__('Nodes')}
        value={replicas}
        min={1}
        max={MAX_NODES}
        onChange={next => model.editReplicas({ replicas: next }, REPLICAS)}
      />
      <span aria-hidden>×</span>
      <NumberField
        field={DEVICE}
        aria-label={trans.__('GPUs on each node')}
        value={device.count}
        min={0}
        max={MAX_PROCESSES}
        onChange={setCount}
      />
      <label className="jp-t9k-visuallyHidden" htmlFor={`${prefix}${KIND}`}>
        {trans.__('GPUs')}
      </label>
      <DeviceKind field={KIND} name={device.name} disabled={!device.count} />
    </Row>
  );
}

/** Return the totals of a job, such as “8 GPUs, 8 processes”. */
function describeTotal(spec: JobSpec, trans: TranslationBundle): string | null {
  const [{ replicas, resources }] = spec.replica_specs;
  const count = resources.device?.count ?? 0;
  const each = spec.torchrun?.proc_per_node ?? 1;
  const processes = replicas * (each === 'gpu' ? count : each);
  return listed([
    count
      ? trans._n('%1 GPU', '%1 GPUs', replicas * count)
      : trans.__('No GPU'),
    processes ? trans._n('%1 process', '%1 processes', processes) : null
  ]);
}

/** Limit and request of a resource on each node. */
function QuantityRow({
  part,
  unit
}: {
  part: 'cpu' | 'memory';
  unit: string;
}): React.JSX.Element {
  const { model, trans, prefix } = useLaunch();
  const { limit, request } = useModel(
    ({ form }) => form.spec.replica_specs[0].resources[part]
  );
  const free = useModel(({ form, capacity, nodeLabels }) => {
    const { device } = form.spec.replica_specs[0].resources;
    const most = capacity.mostFree(part, device, nodeLabels);
    return amountNote(part, most, trans);
  });
  const canLimit = useModel(now => now.can('resource_limits').supported);
  const place = `/replica_specs/0/resources/${part}`;
  const set = (bound: 'request' | 'limit', value: string | null) => {
    const [{ resources }] = model.form.spec.replica_specs;
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
          value={limit}
          placeholder={trans.__('no limit')}
          disabled={!canLimit}
          onChange={value => set('limit', value)}
        />
        <label htmlFor={`${prefix}${place}/request`}>
          {trans.__('request')}
        </label>
        <QuantityField
          field={`${place}/request`}
          value={request}
          placeholder={limit ?? trans.__('none')}
          disabled={!canLimit}
          onChange={value => set('request', value)}
        />
        <span className="jp-t9k-caption">
          {[unit, free].filter(Boolean).join(' · ')}
        </span>
      </span>
    </Row>
  );
}

/** Switch and size of the shared memory at /dev/shm. */
function SharedMemoryField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const field = '/shm/size_limit';
  // Keep the last size, to restore it when the user switches shared memory on again.
  const [isOn, last] = useOptional(spec => spec.shm);
  const limit = useModel(({ form }) => form.spec.shm?.size_limit ?? null);
  return (
    <Row
      field={field}
      caption={
        isOn
          ? null
          : trans.__(
              'Without it, data loaders with workers fail because shared memory runs out.'
            )
      }
    >
      <CheckField
        field="/shm"
        checked={isOn}
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
      {isOn && (
        <>
          <QuantityField
            field={field}
            value={limit}
            placeholder={trans.__('no limit')}
            onChange={size_limit => {
              const { shm } = model.form.spec;
              model.edit({ shm: shm && { ...shm, size_limit } }, field);
            }}
          />
          <span className="jp-t9k-caption">
            {trans.__('counts toward the memory limit')}
          </span>
        </>
      )}
    </Row>
  );
}

/** Smallest and largest number of nodes of an elastic job. */
function ElasticField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const can = useModel(now => now.can('elastic'));
  const elastic = useModel(({ form }) => form.spec.elastic);
  const replicas = useModel(({ form }) => form.spec.replica_specs[0].replicas);
  const bound = (name: 'min' | 'max', label: string): React.JSX.Element => (
    <NumberField
      field={`/elastic/${name}`}
      aria-label={label}
      value={elastic?.[name] ?? replicas}
      min={1}
      max={MAX_NODES}
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
        {trans.__('Allow nodes to join and leave')}
      </CheckField>
      {elastic && (
        <>
          {bound('min', trans.__('Minimum nodes'))}
          <span>{trans.__('to')}</span>
          {bound('max', trans.__('Maximum nodes'))}
        </>
      )}
    </Row>
  );
}

/** Properties of the field of a quantity. */
interface IQuantityFieldProps {
  field: string;
  value: string | null;
  placeholder: string;
  disabled?: boolean;
  onChange(value: string | null): void;
}

/** Number of cores or bytes in Kubernetes' notation. */
function QuantityField({
  field,
  value,
  onChange,
  ...props
}: IQuantityFieldProps): React.JSX.Element {
  const { model, trans } = useLaunch();
  const draft = useDraft(field);
  return (
    <TextField
      {...props}
      field={field}
      size={8}
      value={draft ?? value ?? ''}
      onChange={text => {
        const quantity = text.trim();
        if (!quantity || QUANTITY.test(quantity)) {
          onChange(quantity || null);
        } else {
          const problem = trans.__('Enter a quantity such as 4, 500m or 16Gi.');
          model.setDraft(field, { text, problem });
        }
      }}
    />
  );
}
