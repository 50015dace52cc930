/** Footer of the launch form: the buttons that submit and check the form, and the job's summary or errors. */
import { TranslationBundle } from '@jupyterlab/translation';
import { LabIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Check } from '../../api/types';
import { errorIcon, stateIcons, warningIcon } from '../../ui/icons';
import { LaunchModel } from '../model/launch';
import { MISSING } from '../model/problems';
import { Button, LinkButton } from '../../ui/Buttons';
import { Icon } from '../../ui/Icon';
import { CommandIDs } from '../../tokens';
import { useShortcuts } from '../../common/shortcut';
import { useChecks, useLaunch, useModel } from '../parts/context';
import { describeField } from '../parts/fieldNames';
import { SourceLink } from '../parts/SourceLink';
import { canTry, useTry } from '../tries/useTry';

/** Maximum number of fields that a sentence names. */
const NAMED = 3;

/** Footer of the form. */
export function Footer(): React.JSX.Element {
  const { trans, actions, prefix } = useLaunch();
  const withShortcut = useShortcuts(actions.withShortcut);
  const busy = useModel(({ state }) => state.busy);
  const waits = useModel(({ pending }) => pending !== null) || busy !== null;
  const wrong = useModel(
    ({ checks, isSweep, sweepJobs }) =>
      checks.some(check => check.level === 'error') ||
      (isSweep && sweepJobs.chosen.length === 0)
  );
  const count = useModel(model =>
    model.isSweep ? model.sweepJobs.chosen.length : null
  );
  const submit =
    count === null
      ? trans.__('Submit')
      : trans._n('Submit %1 job', 'Submit %1 jobs', count);
  const offersTry = useModel(canTry);
  const { start } = useTry();
  const sentence = `${prefix}sentence`;
  return (
    <div className="jp-t9k-Launch-footer">
      {/* The button stays focusable when there are errors; a click moves the focus to the first one. */}
      <Button
        kind="primary"
        aria-disabled={wrong || waits || undefined}
        aria-describedby={sentence}
        title={withShortcut(trans.__('Submit'), CommandIDs.submit)}
        onClick={() => waits || actions.submit()}
      >
        {busy === 'submitting' ? trans.__('Submitting…') : submit}
      </Button>
      <Button
        aria-disabled={waits || undefined}
        aria-describedby={sentence}
        onClick={() => waits || actions.dryRun()}
      >
        {busy === 'checking' ? trans.__('Checking…') : trans.__('Dry run')}
      </Button>
      {offersTry && (
        <Button
          aria-disabled={waits || undefined}
          onClick={() => waits || start()}
        >
          {trans.__('Try here first')}
        </Button>
      )}
      <div id={sentence} className="jp-t9k-Launch-sentence" role="status">
        <Sentence />
      </div>
    </div>
  );
}

/** The most important fact about the form: pending work, a refusal, errors, missing values, the dry run or the plan. */
function Sentence(): React.JSX.Element {
  const { trans } = useLaunch();
  const pending = useModel(model => model.pending);
  const refusal = useModel(({ state }) => state.refusal);
  const dryRunPassed = useModel(({ state }) => state.dryRunPassed);
  const errors = useChecks(check => check.level === 'error');
  const missing = useChecks(check => check.code === MISSING);
  if (pending !== null) {
    return <span>{pending}</span>;
  }
  if (refusal && !errors.length) {
    return (
      <>
        <Level level="error" icon={errorIcon} />
        {refusal.verbatim ? (
          <strong>{trans.__('The job was not created.')}</strong> // the reason is shown above
        ) : (
          <span role="alert">
            <strong>{refusal.message}</strong> {refusal.hint}
          </span>
        )}
      </>
    );
  }
  if (errors.length) {
    return (
      <>
        <Level level="error" icon={errorIcon} />
        <span>
          <strong>
            {trans._n('%1 error to fix:', '%1 errors to fix:', errors.length)}
          </strong>{' '}
          <Places checks={errors} />
        </span>
      </>
    );
  }
  if (missing.length) {
    return (
      <>
        <Level level="warning" icon={warningIcon} />
        <span>
          <strong>{trans.__('Still empty:')}</strong>{' '}
          <Places checks={missing} />
        </span>
      </>
    );
  }
  if (dryRunPassed) {
    return <DryRunResult />;
  }
  return <Plan />;
}

/** Result of a dry run without errors. */
function DryRunResult(): React.JSX.Element {
  const { trans } = useLaunch();
  const what = useModel(({ checks }) => describeDryRun(checks, trans));
  const warned = useModel(({ checks }) =>
    checks.some(check => check.level === 'warning')
  );
  return (
    <>
      {warned ? (
        <Level level="warning" icon={warningIcon} />
      ) : (
        <Level level="passed" icon={stateIcons.succeeded} />
      )}
      <span>
        <strong>{trans.__('This job can be submitted.')}</strong> {what}{' '}
        {warned && trans.__('The warnings remain.')}
      </span>
    </>
  );
}

/** Summary of the job that will be created. */
function Plan(): React.JSX.Element {
  const { trans } = useLaunch();
  const isShown = useModel(({ preview }) => preview.shown !== null);
  const sweep = useModel(model => describeSweep(model, trans));
  const what = useModel(model =>
    sweep === null && model.facts.has_namespaces && !model.state.manifest
      ? describeStart(model, trans)
      : model.preview.shown?.summary
  );
  const how = useModel(model => howItRuns(model, trans).filter(Boolean));
  const warned = useModel(({ checks }) =>
    checks.some(check => check.level === 'warning')
  );
  return (
    <>
      {warned && <Level level="warning" icon={warningIcon} />}
      <span>
        {sweep !== null && (
          <>
            <strong>{sweep}</strong>
            {' · '}
          </>
        )}
        {isShown && (sweep === null ? <strong>{what}</strong> : what)}
        {isShown && ['', ...how].join(' · ')}
      </span>
    </>
  );
}

/** Return a text about the checks of a dry run. The server's own check tells whether the API server took part. */
function describeDryRun(
  checks: readonly Check[],
  trans: TranslationBundle
): string {
  const codes = checks.map(check => check.code);
  if (codes.includes('DryRun')) {
    return trans.__(
      'The API server checked the job object. It did not check the pods and created nothing.'
    );
  }
  return codes.includes('NoDryRun')
    ? trans.__(
        'The API server could not check the job object; nothing was created.'
      )
    : trans.__(
        'The server made the same checks as for a submission and started nothing.'
      );
}

/** Return the size and location of the job, such as “Start 2 nodes × 4 GPUs on T9k, namespace demo”. */
function describeStart(model: LaunchModel, trans: TranslationBundle): string {
  const { spec, engine } = model;
  const { namespace } = model.state;
  const [{ replicas, resources }] = spec.replica_specs;
  const gpus = resources.device?.count ?? 0;
  const each = spec.torchrun?.proc_per_node ?? 1;
  const size = [
    trans._n('%1 node', '%1 nodes', replicas),
    gpus || each === 'gpu'
      ? trans._n('%1 GPU', '%1 GPUs', gpus)
      : trans._n('%1 process', '%1 processes', each)
  ].join(' × ');
  const where = engine?.label ?? model.state.engine;
  return spec.paused
    ? trans.__(
        'Create a paused job: %1 on %2, namespace %3',
        size,
        where,
        namespace
      )
    : trans.__('Start %1 on %2, namespace %3', size, where, namespace);
}

/** Return how many jobs of a sweep start, such as “Start 6 jobs, 2 at a time”; null if the form has no sweep. */
function describeSweep(
  { isSweep, sweepJobs, sweep }: LaunchModel,
  trans: TranslationBundle
): string | null {
  if (!isSweep) {
    return null;
  }
  const { length } = sweepJobs.chosen;
  return length > sweep.atATime
    ? trans._n(
        'Start %1 job, %2 at a time',
        'Start %1 jobs, %2 at a time',
        length,
        sweep.atATime
      )
    : trans._n('Start %1 job', 'Start %1 jobs', length);
}

/** Return further facts about the job: queue, device, start and debug mode. */
function howItRuns(
  model: LaunchModel,
  trans: TranslationBundle
): (string | null)[] {
  const { manifest } = model.state;
  const { spec } = model;
  if (manifest) {
    return [trans.__('the edited manifest')];
  }
  const paused = spec.paused ? trans.__('starts when it is resumed') : null;
  const { queue } = spec.scheduling;
  const [{ resources }] = spec.replica_specs;
  const gpu = resources.device || spec.torchrun?.proc_per_node === 'gpu';
  const { runs_on_lab_machine: isHere, outlives_server } = model.facts;
  const goesOn = isHere && outlives_server && !paused;
  return [
    queue && trans.__('queue %1', queue),
    isHere && !gpu ? trans.__('CPU') : null,
    paused,
    goesOn ? trans.__('keeps running when the lab is closed') : null,
    spec.debug && trans.__('debug mode: the training does not run')
  ];
}

function Level({
  level,
  icon
}: {
  level: string;
  icon: LabIcon;
}): React.JSX.Element {
  return (
    <span data-level={level}>
      <Icon of={icon} />
    </span>
  );
}

/** Links to the sources, lines or fields of checks. A check without any is shown by its message. */
function Places({ checks }: { checks: readonly Check[] }): React.JSX.Element {
  const { trans, reveal, revealLine } = useLaunch();
  const isManifest = useModel(({ state }) => state.manifest !== null);
  const places = new Map<number | string | null, Check>();
  for (const check of checks) {
    const { line, field } = check;
    const key =
      sourceOf(check)?.label ??
      line ??
      (field && describeField(field, trans)?.name) ??
      field;
    if (!places.has(key)) {
      places.set(key, check);
    }
  }
  const fields = [...places];
  return (
    <>
      {fields.slice(0, NAMED).map(([key, check], index) => {
        const { field, line, column, message } = check;
        const source = sourceOf(check);
        const shown = field && !isManifest ? describeField(field, trans) : null;
        return (
          <React.Fragment key={key}>
            {index > 0 && ', '}
            {source ? (
              <SourceLink link={source} />
            ) : line !== null ? (
              <LinkButton onClick={() => revealLine({ line, column })}>
                {trans.__('line %1', line)}
              </LinkButton>
            ) : field && shown ? (
              <LinkButton onClick={() => reveal(field)}>
                {shown.name}
              </LinkButton>
            ) : (
              <span>{message}</span>
            )}
          </React.Fragment>
        );
      })}
      {fields.length > NAMED && '…'}
    </>
  );
}

/** Return the link to the line of a check in a script or notebook; null if its line is one of the manifest. */
function sourceOf({ line, link }: Check): Check['link'] {
  return line !== null && link?.kind === 'file' ? link : null;
}
