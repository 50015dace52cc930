import * as React from 'react';
import { queueText } from '../../model/queueText';
import { Combobox, IChoice } from './Combobox';
import { useLaunch } from './context';
import { NumberField, Row, useFieldId } from './fields';

/** In which queue the job waits, and how important it is there. */
export function QueueField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const { engine, namespace, queues } = model.state;
  const { scheduling, replica_specs } = model.form.spec;
  const [can, priority] = [model.can('queue'), model.can('priority')];
  const [field, priorityField] = ['/scheduling/queue', '/scheduling/priority'];
  const isAsked = can.supported && !queues;
  React.useEffect(() => {
    if (isAsked) {
      void model.loadQueues();
    }
  }, [model, engine, namespace, isAsked]);
  const resource = replica_specs[0].resources.device?.name ?? null;
  const known = queues?.queues ?? [];
  const choices = known.map((queue): IChoice => ({
    value: queue.name,
    note: queueText(queue, resource, trans),
    disabled: !queue.open
  }));
  const chosen = known.find(({ name }) => name === scheduling.queue);
  const usual = known.find(queue => queue.default);
  const change = (changes: Partial<typeof scheduling>, changed: string) =>
    model.edit({ scheduling: { ...scheduling, ...changes } }, changed);
  const said = [
    can.reason ?? priority.reason,
    queues?.limited,
    chosen && queueText(chosen, resource, trans)
  ];
  return (
    <Row
      field={field}
      others={[priorityField]}
      caption={said.filter(Boolean).join(' ')}
    >
      <Combobox
        field={field}
        value={scheduling.queue ?? ''}
        choices={choices}
        disabled={!can.supported}
        placeholder={
          usual && engine === 'kubeflow' ? usual.name : trans.__('none')
        }
        onChange={text => change({ queue: text.trim() || null }, field)}
        onFocus={() => void model.loadQueues()} // what is free there changes
      />
      <label htmlFor={useFieldId(priorityField)}>{trans.__('Priority')}</label>
      <NumberField
        field={priorityField}
        value={scheduling.priority}
        min={0}
        max={100}
        disabled={!priority.supported}
        onChange={value => change({ priority: value }, priorityField)}
        onClear={() => change({ priority: null }, priorityField)}
      />
    </Row>
  );
}
