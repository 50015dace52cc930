import * as React from 'react';
import { JobSpec } from '../../api/types';
import { Segments } from '../Segments';
import { useLaunch } from './context';
import { NumberField, Row, Select, SpanField, useField } from './fields';
import { FinishedFields } from './FinishedFields';
import { Group, IFolding } from './Group';
import {
  describeLifecycle,
  describePolicy,
  RestartPolicy
} from './lifecycleText';

const RESTART = '/replica_specs/0/restart_policy';
const DEADLINE = '/run_policy/active_deadline_seconds';

/** What happens when the job fails, takes long, or is not to begin yet. */
export function LifecycleGroup({
  folding
}: {
  folding: IFolding;
}): React.JSX.Element {
  const { model, trans } = useLaunch();
  const { spec } = model.form;
  return (
    <Group
      name="lifecycle"
      title={trans.__('Lifecycle')}
      summary={describeLifecycle(spec, model.isCluster, trans)}
      folding={folding}
    >
      <RestartField />
      {spec.torchrun && <WorkerRestartsField torchrun={spec.torchrun} />}
      <DeadlineField />
      {model.isCluster && <FinishedFields />}
      <StartField />
    </Group>
  );
}

/** Whether the job begins at once. */
function StartField(): React.JSX.Element {
  const { model, trans, prefix } = useLaunch();
  const { paused, debug, replica_specs } = model.form.spec;
  const can = model.can('debug');
  const start = debug ? 'debug' : paused ? 'paused' : 'now';
  const captions = {
    now: null,
    paused: trans.__('The job is kept, and starts when it is resumed.'),
    debug: trans.__(
      'The containers wait instead of running, so that one can look around in them.'
    )
  };
  const choose = (value: typeof start) => {
    const waiting = { skip_init: false, command: ['sleep', 'inf'] };
    const all = replica_specs.map(({ type }) => [type, waiting]);
    model.edit(
      {
        paused: value === 'paused',
        debug: value === 'debug' ? Object.fromEntries(all) : null
      },
      '/paused'
    );
  };
  return (
    <Row field="/paused" group caption={captions[start]}>
      <Segments<typeof start>
        aria-labelledby={`${prefix}/paused-label`}
        data-field="/paused"
        segments={[
          { value: 'now', label: trans.__('Now') },
          { value: 'paused', label: trans.__('Paused') },
          ...(model.isCluster
            ? [
                {
                  value: 'debug' as const,
                  label: trans.__('Debug: replicas idle'),
                  disabled: can.supported ? null : can.reason
                }
              ]
            : [])
        ]}
        value={start}
        onChange={choose}
      />
    </Row>
  );
}

function RestartField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const field = useField(RESTART);
  const { replica_specs, run_policy, torchrun } = model.form.spec;
  const policy = replica_specs[0].restart_policy;
  const always = model.can('restart_always');
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
      caption={describePolicy(
        policy,
        torchrun !== null,
        model.state.engine,
        trans
      )}
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
            value === 'Always' && !always.supported ? always.reason : null;
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
  return (
    <Row field={DEADLINE}>
      <SpanField
        field={DEADLINE}
        seconds={run_policy.active_deadline_seconds}
        placeholder={trans.__('none')}
        onChange={active_deadline_seconds =>
          model.edit(
            { run_policy: { ...run_policy, active_deadline_seconds } },
            DEADLINE
          )
        }
      />
      <span className="jp-t9k-caption">
        {trans.__('e.g. 12h; the job fails when it is over')}
      </span>
    </Row>
  );
}
