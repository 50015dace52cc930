/** The form's group “Lifecycle”: restarts, deadline, clean-up and start. */
import * as React from 'react';
import { MAX_INT32 } from '../../api/constants';
import { useLaunch, useModel } from '../parts/context';
import { NumberField } from '../parts/NumberField';
import { Row, useField } from '../parts/Row';
import { SegmentsField, Select } from '../parts/choices';
import { SpanField } from '../parts/TextField';
import { DebugFields } from '../fields/DebugFields';
import { DiagnosticsField } from '../fields/DiagnosticsField';
import { EvictionField } from '../fields/EvictionField';
import { FinishedFields } from '../fields/FinishedFields';
import { Group, IFolding } from '../parts/groups/Group';
import { describeLifecycle, RestartPolicy } from '../content/lifecycleText';

const RESTART = '/replica_specs/0/restart_policy';
const DEADLINE = '/run_policy/active_deadline_seconds';

/** Group “Lifecycle”, with the fields that the engine supports. */
export function LifecycleGroup({
  folding
}: {
  folding: IFolding;
}): React.JSX.Element {
  const { trans } = useLaunch();
  const hasPods = useModel(({ facts }) => facts.has_pods);
  const hasRestarts = useModel(model => model.offers('restarts'));
  const hasEvictions = useModel(model => model.offers('resume_evicted'));
  const hasDeadline = useModel(model => model.offers('deadline'));
  const hasDiagnostics = useModel(model => model.offers('diagnostics'));
  const hasPause = useModel(model => model.offers('pause'));
  const isDebugged = useModel(({ form }) => form.spec.debug !== null);
  return (
    <Group
      name="lifecycle"
      title={trans.__('Lifecycle')}
      summary={model => describeLifecycle(model.form.spec, model.facts, trans)}
      folding={folding}
    >
      {hasRestarts && <RestartField />}
      <WorkerRestartsField />
      {hasEvictions && <EvictionField />}
      {hasDeadline && <DeadlineField />}
      {hasPods && <FinishedFields />}
      {hasDiagnostics && <DiagnosticsField />}
      {hasPause && <StartField />}
      {isDebugged && <DebugFields />}
    </Group>
  );
}

/** Choice of the start: now, paused, or in debug mode with idle replicas. */
function StartField(): React.JSX.Element {
  const { model, trans, prefix } = useLaunch();
  const can = useModel(now => now.can('debug'));
  const canDebug = useModel(now => now.offers('debug'));
  const start = useModel(({ form: { spec } }) =>
    spec.debug ? 'debug' : spec.paused ? 'paused' : 'now'
  );
  const captions = {
    now: null,
    paused: trans.__(
      'The job is created paused and starts when it is resumed.'
    ),
    debug: trans.__(
      'The replicas wait instead of running the script. Open a terminal in one to run it by hand.'
    )
  };
  const choose = (value: typeof start) => {
    const waiting = { skip_init: false, command: ['sleep', 'inf'] };
    const { replica_specs } = model.form.spec;
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
      <SegmentsField<typeof start>
        aria-labelledby={`${prefix}/paused-label`}
        field="/paused"
        segments={[
          { value: 'now', label: trans._p('start', 'Now') },
          { value: 'paused', label: trans._p('start', 'Paused') },
          ...(canDebug
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

/** Restart policy, and the largest number of restarts. */
function RestartField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const field = useField(RESTART);
  const { policy, limit, torchrun } = useModel(({ form: { spec } }) => ({
    policy: spec.replica_specs[0].restart_policy,
    limit: spec.run_policy.backoff_limit,
    torchrun: spec.torchrun !== null
  }));
  const texts = useModel(now => now.engine?.facts.restart_texts);
  const always = useModel(now => now.can('restart_always'));
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
      caption={texts?.[torchrun ? 'with_torchrun' : 'without_torchrun'][policy]}
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
            aria-label={trans.__('Maximum restarts')}
            value={limit}
            min={0}
            max={MAX_INT32}
            onChange={backoff_limit => {
              const { run_policy } = model.form.spec;
              model.edit(
                { run_policy: { ...run_policy, backoff_limit } },
                '/run_policy/backoff_limit'
              );
            }}
          />
          <span>{trans.__('times')}</span>
        </>
      )}
    </Row>
  );
}

/** Largest number of torchrun's own restarts; hidden if torchrun is off. */
function WorkerRestartsField(): React.JSX.Element | null {
  const { model, trans } = useLaunch();
  const field = '/torchrun/max_restarts';
  const most = useModel(({ form }) => form.spec.torchrun?.max_restarts ?? null);
  if (most === null) {
    return null;
  }
  return (
    <Row field={field}>
      <NumberField
        field={field}
        value={most}
        min={0}
        max={MAX_INT32}
        onChange={max_restarts => {
          const { torchrun } = model.form.spec;
          model.edit(
            { torchrun: torchrun && { ...torchrun, max_restarts } },
            field
          );
        }}
      />
      <span className="jp-t9k-caption">
        {trans.__('restarts of the processes by torchrun; not counted above')}
      </span>
    </Row>
  );
}

/** Longest time that the job may run. */
function DeadlineField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const seconds = useModel(
    ({ form }) => form.spec.run_policy.active_deadline_seconds
  );
  return (
    <Row field={DEADLINE}>
      <SpanField
        field={DEADLINE}
        seconds={seconds}
        placeholder={trans.__('none')}
        onChange={active_deadline_seconds => {
          const { run_policy } = model.form.spec;
          model.edit(
            { run_policy: { ...run_policy, active_deadline_seconds } },
            DEADLINE
          );
        }}
      />
      <span className="jp-t9k-caption">
        {trans.__('e.g. 12h; the job fails if it runs longer')}
      </span>
    </Row>
  );
}
