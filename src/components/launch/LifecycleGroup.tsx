import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { JobSpec } from '../../api/types';
import { formatSpan, parseSpan } from '../../model/span';
import { Segments } from '../Segments';
import { useLaunch } from './context';
import { NumberField, Row, Select, TextField, useField } from './fields';
import { Group, IFolding } from './Group';

type RestartPolicy = JobSpec['replica_specs'][number]['restart_policy'];

const RESTART = '/replica_specs/0/restart_policy';
const DEADLINE = '/run_policy/active_deadline_seconds';

/** What happens when the job fails, takes long, or is not to begin yet. */
export function LifecycleGroup({
  folding
}: {
  folding: IFolding;
}): React.JSX.Element {
  const { model, trans, prefix } = useLaunch();
  const { spec } = model.form;
  return (
    <Group
      name="lifecycle"
      title={trans.__('Lifecycle')}
      summary={describeLifecycle(spec, trans)}
      folding={folding}
    >
      <RestartField />
      {spec.torchrun && <WorkerRestartsField torchrun={spec.torchrun} />}
      <DeadlineField />
      <Row field="/paused" group>
        <Segments
          aria-labelledby={`${prefix}/paused-label`}
          data-field="/paused"
          segments={[
            { value: 'now', label: trans.__('Now') },
            { value: 'paused', label: trans.__('Paused') }
          ]}
          value={spec.paused ? 'paused' : 'now'}
          onChange={value =>
            model.edit({ paused: value === 'paused' }, '/paused')
          }
        />
        {spec.paused && (
          <span className="jp-t9k-caption">
            {trans.__('the job is kept, and starts when it is resumed')}
          </span>
        )}
      </Row>
    </Group>
  );
}

function RestartField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const field = useField(RESTART);
  const { replica_specs, run_policy, torchrun } = model.form.spec;
  const policy = replica_specs[0].restart_policy;
  const { engine, prefill } = model.state;
  const always = prefill?.engines.find(info => info.name === engine)
    ?.capabilities.restart_always;
  const policies: Record<RestartPolicy, string> = {
    Never: trans.__('Never'),
    OnFailure: trans.__('After a failure (OnFailure)'),
    ExitCode: trans.__('By exit code (ExitCode)'),
    Always: trans.__('Always')
  };
  return (
    <Row
      field={RESTART}
      others={['/run_policy/backoff_limit']}
      caption={describePolicy(policy, torchrun !== null, trans)}
    >
      <Select
        {...field}
        value={policy}
        onChange={event =>
          model.editReplicas(
            { restart_policy: event.target.value as RestartPolicy },
            RESTART
          )
        }
      >
        {Object.entries(policies).map(([value, label]) => {
          const refused =
            value === 'Always' && always?.supported === false
              ? always.reason
              : null;
          return (
            <option key={value} value={value} disabled={refused !== null}>
              {refused ? `${label} – ${refused}` : label}
            </option>
          );
        })}
      </Select>
      {policy !== 'Never' && (
        <>
          <span>{trans.__('at most')}</span>
          <NumberField
            field="/run_policy/backoff_limit"
            aria-label={trans.__('Most restarts')}
            value={run_policy.backoff_limit}
            min={0}
            max={1000}
            onChange={backoff_limit =>
              model.edit(
                { run_policy: { ...run_policy, backoff_limit } },
                '/run_policy/backoff_limit'
              )
            }
          />
          <span>{trans.__('times')}</span>
        </>
      )}
    </Row>
  );
}

function WorkerRestartsField({
  torchrun
}: {
  torchrun: NonNullable<JobSpec['torchrun']>;
}): React.JSX.Element {
  const { model, trans } = useLaunch();
  const field = '/torchrun/max_restarts';
  return (
    <Row field={field}>
      <NumberField
        field={field}
        value={torchrun.max_restarts}
        min={0}
        max={1000}
        onChange={max_restarts =>
          model.edit({ torchrun: { ...torchrun, max_restarts } }, field)
        }
      />
      <span className="jp-t9k-caption">
        {trans.__(
          'how often torchrun itself starts its processes again; not counted above'
        )}
      </span>
    </Row>
  );
}

function DeadlineField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const { run_policy } = model.form.spec;
  const seconds = run_policy.active_deadline_seconds;
  const [typed, setTyped] = React.useState<string | null>(null);
  const change = (text: string) => {
    setTyped(text);
    const span = text.trim() ? parseSpan(text) : null;
    if (span !== null || !text.trim()) {
      model.edit(
        { run_policy: { ...run_policy, active_deadline_seconds: span } },
        DEADLINE
      );
    } else {
      const problem = trans.__(
        'Give a time with its unit, such as 12h, 90 min or 1h 30min.'
      );
      model.setDraft(DEADLINE, { text, problem });
    }
  };
  return (
    <Row field={DEADLINE}>
      <TextField
        field={DEADLINE}
        value={
          model.form.drafts[DEADLINE]?.text ??
          typed ??
          (seconds === null ? '' : formatSpan(seconds))
        }
        size={12}
        placeholder={trans.__('none')}
        onChange={change}
        onBlur={() => setTyped(null)}
      />
      <span className="jp-t9k-caption">
        {trans.__('e.g. 12h; the job fails when it is over')}
      </span>
    </Row>
  );
}

function describePolicy(
  policy: RestartPolicy,
  torchrun: boolean,
  trans: TranslationBundle
): string {
  switch (policy) {
    case 'Never':
      return trans.__('A job that fails has failed.');
    case 'ExitCode':
      return torchrun
        ? trans.__(
            'By the exit code of the replica. With torchrun on that is torchrun’s own, 1 for every failure; the script’s is seen with torchrun off only.'
          )
        : trans.__(
            'Codes of the system (such as 137 and 143) restart it, those of the script end it.'
          );
    default:
      return torchrun
        ? trans.__('All nodes start again together, and that counts as one.')
        : trans.__('Counted over all nodes.');
  }
}

function describeLifecycle(spec: JobSpec, trans: TranslationBundle): string {
  const { run_policy, replica_specs, paused } = spec;
  const limit = run_policy.backoff_limit;
  const deadline = run_policy.active_deadline_seconds;
  return [
    replica_specs[0].restart_policy === 'Never'
      ? trans.__('No restarts')
      : trans._n('At most %1 restart', 'At most %1 restarts', limit),
    deadline === null
      ? trans.__('no deadline')
      : trans.__('ends after %1', formatSpan(deadline)),
    trans.__('files and logs stay'),
    ...(paused ? [trans.__('starts paused')] : [])
  ].join(' · ');
}
