/** Field of the job's queue. */
import * as React from 'react';
import { MAX_PRIORITY } from '../../api/constants';
import { JobSpec } from '../../api/types';
import { queueText } from '../../cluster/model/queueText';
import { Combobox, IChoice } from '../parts/Combobox';
import { useLaunch, useModel } from '../parts/context';
import { NumberField } from '../parts/NumberField';
import { Row, useFieldId } from '../parts/Row';
import { sentences } from '../../common/format';

/** The job's queue and its priority in the queue. */
export function QueueField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const engine = useModel(({ state }) => state.engine);
  const namespace = useModel(({ state }) => state.namespace);
  const queues = useModel(({ state }) => state.queues);
  const queue = useModel(({ form }) => form.spec.scheduling.queue);
  const level = useModel(({ form }) => form.spec.scheduling.priority);
  const resource = useModel(
    ({ form }) => form.spec.replica_specs[0].resources.device?.name ?? null
  );
  const can = useModel(now => now.can('queue'));
  const priority = useModel(now => now.can('priority'));
  const [field, priorityField] = ['/scheduling/queue', '/scheduling/priority'];
  const isAsked = can.supported && !queues;
  React.useEffect(() => {
    if (isAsked) {
      void model.loadQueues();
    }
  }, [model, engine, namespace, isAsked]);
  const known = queues?.queues ?? [];
  const choices = known.map((each): IChoice => ({
    value: each.name,
    note: queueText(each, resource, trans),
    disabled: !each.open
  }));
  const chosen = known.find(({ name }) => name === queue);
  const change = (
    changes: Partial<JobSpec['scheduling']>,
    changed: string
  ): void => {
    const { scheduling } = model.form.spec;
    model.edit({ scheduling: { ...scheduling, ...changes } }, changed);
  };
  const said = [
    can.reason ?? priority.reason,
    queues?.limited,
    chosen && queueText(chosen, resource, trans)
  ];
  return (
    <Row field={field} others={[priorityField]} caption={sentences(said)}>
      <Combobox
        field={field}
        value={queue ?? ''}
        choices={choices}
        disabled={!can.supported}
        placeholder={queues?.applied ?? trans.__('none')}
        onChange={text => change({ queue: text.trim() || null }, field)}
        onFocus={() => void model.loadQueues()} // refresh the queues' free amounts
      />
      <label htmlFor={useFieldId(priorityField)}>{trans.__('Priority')}</label>
      <NumberField
        field={priorityField}
        value={level}
        min={0}
        max={MAX_PRIORITY}
        disabled={!priority.supported}
        onChange={value => change({ priority: value }, priorityField)}
        onClear={() => change({ priority: null }, priorityField)}
      />
    </Row>
  );
}
