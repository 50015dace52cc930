/** Fields of a job's cleanup: pods, the job's object and logs. */
import * as React from 'react';
import { CheckField, Select } from '../parts/choices';
import { Row, useField } from '../parts/Row';
import { SpanField } from '../parts/TextField';
import { useLaunch, useModel } from '../parts/context';
import { CleanUp, describeCleanUp } from '../content/lifecycleText';

const CLEAN_UPS: readonly CleanUp[] = ['None', 'Unfinished', 'All'];

/** Fields for the time after the job's end. */
export function FinishedFields(): React.JSX.Element {
  return (
    <>
      <CleanUpField />
      <TtlField />
      <LogsField />
    </>
  );
}

/** Choice of the pods that are removed when the job ends. */
function CleanUpField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const field = '/run_policy/clean_up';
  const can = useModel(now => now.can('clean_up'));
  const chosen = useModel(({ form }) => form.spec.run_policy.clean_up);
  return (
    <Row
      field={field}
      caption={
        can.reason ??
        (chosen === 'All'
          ? trans.__('Files on the pods’ own disks are deleted as well.')
          : null)
      }
    >
      <Select
        {...useField(field)}
        value={chosen}
        disabled={!can.supported && chosen === 'Unfinished'}
        onChange={event => {
          const clean_up = event.target.value as CleanUp;
          const { run_policy } = model.form.spec;
          model.edit({ run_policy: { ...run_policy, clean_up } }, field);
        }}
      >
        {CLEAN_UPS.map(value => (
          <option key={value} value={value}>
            {describeCleanUp(value, trans)}
          </option>
        ))}
      </Select>
    </Row>
  );
}

/** Time after which the cluster deletes an ended job. */
function TtlField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const field = '/run_policy/ttl_seconds';
  const can = useModel(now => now.can('ttl'));
  const seconds = useModel(({ form }) => form.spec.run_policy.ttl_seconds);
  return (
    <Row field={field} caption={can.reason}>
      <SpanField
        field={field}
        seconds={seconds}
        placeholder={trans.__('never')}
        disabled={!can.supported && seconds === null}
        onChange={ttl_seconds => {
          const { run_policy } = model.form.spec;
          model.edit({ run_policy: { ...run_policy, ttl_seconds } }, field);
        }}
      />
      {can.supported && (
        <span className="jp-t9k-caption">
          {trans.__(
            'the job is deleted from the cluster; its record is kept here'
          )}
        </span>
      )}
    </Row>
  );
}

/** Switch for logs on the job's volume. */
function LogsField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const field = '/keep_logs';
  const keep_logs = useModel(({ form }) => form.spec.keep_logs);
  const torchrun = useModel(({ form }) => form.spec.torchrun !== null);
  return (
    <Row
      field={field}
      group
      caption={
        keep_logs
          ? torchrun
            ? trans.__(
                'In .t9kjob/logs of the first volume that can be written.'
              )
            : trans.__('Without torchrun, only the pods’ own logs exist.')
          : trans.__(
              'The cluster keeps 10 MiB of each pod’s log and deletes it with the pod.'
            )
      }
    >
      <CheckField
        field={field}
        checked={keep_logs}
        onChange={on => model.edit({ keep_logs: on }, field)}
      >
        {trans.__('Write each rank’s log to the job’s volume')}
      </CheckField>
    </Row>
  );
}
