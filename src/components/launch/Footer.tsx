import { TranslationBundle } from '@jupyterlab/translation';
import { LabIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Check } from '../../api/types';
import { errorIcon, stateIcons, warningIcon } from '../../icons';
import { LaunchModel } from '../../model/launch';
import { MISSING } from '../../model/launchProblems';
import { Button, LinkButton } from '../Buttons';
import { Icon } from '../Icon';
import { useLaunch } from './context';
import { placeOf } from './fieldNames';

/** Fields that are named beside each other. */
const NAMED = 3;

/** What will happen, or what is to be fixed, in one sentence; beside it the way to do it. */
export function Footer(): React.JSX.Element {
  const { model, trans, actions, checks, prefix } = useLaunch();
  const { busy } = model.state;
  const wrong = checks.some(check => check.level === 'error');
  const sentence = `${prefix}sentence`;
  return (
    <div className="jp-t9k-Launch-footer">
      <div id={sentence} className="jp-t9k-Launch-sentence" role="status">
        <Sentence />
      </div>
      <Button
        aria-disabled={busy !== null || undefined}
        onClick={() => busy || actions.dryRun()}
      >
        {busy === 'checking' ? trans.__('Checking…') : trans.__('Dry run')}
      </Button>
      {/* It stays focusable, and leads to what is wrong. */}
      <Button
        kind="primary"
        aria-disabled={wrong || busy !== null || undefined}
        aria-describedby={sentence}
        title={trans.__('Submit (Ctrl+Enter)')}
        onClick={() => busy || actions.submit()}
      >
        {busy === 'submitting' ? trans.__('Submitting…') : trans.__('Submit')}
      </Button>
    </div>
  );
}

function Sentence(): React.JSX.Element {
  const { model, trans, checks } = useLaunch();
  const { refusal, dryRunPassed } = model.state;
  const errors = checks.filter(check => check.level === 'error');
  if (refusal && !errors.length) {
    return (
      <>
        <Level level="error" icon={errorIcon} />
        {refusal.verbatim ? (
          <strong>{trans.__('The job was not created.')}</strong> // why is said above
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
  const missing = checks.filter(check => check.code === MISSING);
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
    return (
      <>
        <Level level="passed" icon={stateIcons.succeeded} />
        <span>
          <strong>{trans.__('This job can be submitted.')}</strong>{' '}
          {trans.__('The server has checked all of it and created nothing.')}
        </span>
      </>
    );
  }
  const { shown } = model.preview;
  const warned = checks.some(check => check.level === 'warning');
  const isForm = model.isCluster && !model.state.manifest;
  const what = isForm ? describeStart(model, trans) : shown?.summary;
  return (
    <>
      {warned && <Level level="warning" icon={warningIcon} />}
      <span>
        {shown && <strong>{what}</strong>}
        {shown && ['', ...howItRuns(model, trans).filter(Boolean)].join(' · ')}
      </span>
    </>
  );
}

/** “Start 2 nodes × 4 GPUs on T9k, namespace demo”. */
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
    ? trans.__('Keep %1 ready on %2, namespace %3', size, where, namespace)
    : trans.__('Start %1 on %2, namespace %3', size, where, namespace);
}

/** What there is to say beside the size of the job. */
function howItRuns(
  model: LaunchModel,
  trans: TranslationBundle
): (string | null)[] {
  const { manifest } = model.state;
  const { spec } = model;
  if (manifest) {
    return [trans.__('the manifest as it stands')];
  }
  const paused = spec.paused ? trans.__('starts when it is resumed') : null;
  if (model.isCluster) {
    const { queue } = spec.scheduling;
    return [
      queue && trans.__('queue %1', queue),
      paused,
      spec.debug && trans.__('debug mode: nothing runs')
    ];
  }
  const [{ resources }] = spec.replica_specs;
  const gpu = resources.device || spec.torchrun?.proc_per_node === 'gpu';
  return [
    gpu ? null : trans.__('CPU'),
    paused ?? trans.__('keeps running when the lab is closed')
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

/** The fields that checks are about, by their names; what is nowhere in the form by its words. */
function Places({ checks }: { checks: readonly Check[] }): React.JSX.Element {
  const { model, trans, reveal, revealLine } = useLaunch();
  const places = new Map<number | string | null, Check>();
  for (const check of checks) {
    const { line, field } = check;
    const key = line ?? (field && placeOf(field, trans)?.name) ?? field;
    if (!places.has(key)) {
      places.set(key, check);
    }
  }
  const fields = [...places];
  return (
    <>
      {fields.slice(0, NAMED).map(([key, check], index) => {
        const { field, line, column, message } = check;
        const place =
          field && !model.state.manifest ? placeOf(field, trans) : null;
        return (
          <React.Fragment key={key}>
            {index > 0 && ', '}
            {line !== null ? (
              <LinkButton onClick={() => revealLine({ line, column })}>
                {trans.__('line %1', line)}
              </LinkButton>
            ) : field && place ? (
              <LinkButton onClick={() => reveal(field)}>
                {place.name}
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
