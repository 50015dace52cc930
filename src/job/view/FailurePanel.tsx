/** Panel that explains the failure of a job and offers next steps. */
import { TranslationBundle } from '@jupyterlab/translation';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import * as React from 'react';
import { Job } from '../../api/types';
import { NextStep, nextSteps, ownFrame } from '../model/nextStep';
import { CommandIDs } from '../../tokens';
import { Button, LinkButton } from '../../ui/Buttons';
import { ContinuedBy } from '../changes/Continuation';
import { failureText } from '../model/text';
import { OpenFile } from './Traceback';

/** Properties of the panel. */
interface IFailurePanelProps {
  job: Job;
  trans: TranslationBundle;
  run(command: string, args?: ReadonlyPartialJSONObject): void;
  /** Return true if the lab has a command. */
  has(command: string): boolean;
  /** Show the failure in the log. */
  showInLog(): void;
  openFile: OpenFile;
  /** Show the tab of another job. */
  openJob(id: string): void;
}

/** Reason of a job's failure, the system's own message, advice and next steps; nothing if the reason is not known. */
export function FailurePanel(
  props: IFailurePanelProps
): React.JSX.Element | null {
  const { job, trans, openFile } = props;
  const { reason, failure } = job;
  if (!reason) {
    return null;
  }
  const own = ownFrame(job, trans);
  const files = [
    ...reason.links.flatMap(({ kind, label, path, line, cell }) =>
      kind === 'file' && path !== null
        ? [{ label, path, line: line ?? 1, cell }]
        : []
    ),
    ...(own ? [own] : [])
  ];
  const verbatim =
    reason.verbatim && !reason.sentence.includes(reason.verbatim)
      ? reason.verbatim
      : null;
  return (
    <section
      className="jp-t9k-FailurePanel"
      aria-label={trans.__('Why it failed')}
    >
      <div>
        <h3>{reason.sentence}</h3>
        {failure && <p>{failureText(failure, job, trans)}</p>}
        {verbatim && <pre>{verbatim}</pre>}
        <ContinuedBy job={job} openJob={props.openJob} trans={trans} />
        {(reason.hint || files.length > 0) && (
          <>
            <h4>{trans.__('What to do')}</h4>
            <p>
              {reason.hint}{' '}
              {files.map(({ label, path, line, cell }) => (
                <LinkButton
                  key={label}
                  title={path}
                  onClick={() => openFile({ path, line, cell })}
                >
                  {label}
                </LinkButton>
              ))}
            </p>
          </>
        )}
      </div>
      <Steps {...props} />
    </section>
  );
}

/** Buttons of the next steps. The first one is the recommended step. */
function Steps(props: IFailurePanelProps): React.JSX.Element {
  const { job, trans } = props;
  const steps = nextSteps(job, trans).filter(({ kind }) =>
    kind === 'clone'
      ? props.has(CommandIDs.clone)
      : kind !== 'rerun' || props.has(CommandIDs.rerun)
  );
  return (
    <div className="jp-t9k-FailurePanel-steps">
      {steps.map((step, index) => (
        <Button
          key={step.kind}
          kind={index === 0 ? 'primary' : 'plain'}
          title={step.kind === 'file' ? step.place.path : undefined}
          onClick={() => take(step, props)}
        >
          {labelOf(step, trans)}
        </Button>
      ))}
    </div>
  );
}

function labelOf(step: NextStep, trans: TranslationBundle): string {
  switch (step.kind) {
    case 'clone':
      return step.fix?.label ?? trans.__('Clone…');
    case 'file':
      return trans.__('Open the file');
    case 'rerun':
      return trans.__('Run again');
    case 'log':
      return trans.__('Show in log');
  }
}

/** Carry out a next step. */
function take(step: NextStep, props: IFailurePanelProps): void {
  switch (step.kind) {
    case 'clone': {
      const fix = step.fix as unknown as ReadonlyPartialJSONObject | null;
      return props.run(CommandIDs.clone, fix ? { fix } : {});
    }
    case 'file':
      return props.openFile(step.place);
    case 'rerun':
      return props.run(CommandIDs.rerun);
    case 'log':
      return props.showInLog();
  }
}
