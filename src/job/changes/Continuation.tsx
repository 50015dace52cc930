/** Sentences about the continuation of evicted jobs. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { MOST_CONTINUATIONS } from '../../api/constants';
import { Job } from '../../api/types';
import { LinkButton } from '../../ui/Buttons';

/** Properties of the sentences. */
interface IContinuationProps {
  job: Job;
  /** Show the tab of another job. */
  openJob(id: string): void;
  trans: TranslationBundle;
}

/** The job that continues an evicted job, or why none does; nothing for other jobs. */
export function ContinuedBy({
  job,
  openJob,
  trans
}: IContinuationProps): React.JSX.Element | null {
  const { continuation } = job;
  if (!continuation) {
    return null;
  }
  const { job: next, problem } = continuation;
  return (
    <div role="note">
      {next !== null ? (
        <p>
          {trans.__('A new job continues it:')}{' '}
          <JobLink id={next} openJob={openJob} />
        </p>
      ) : (
        <>
          <p>{trans.__('No new job continues it.')}</p>
          {problem && <p>{problem}</p>}
        </>
      )}
    </div>
  );
}

/** The evicted job that a job continues, and the checkpoint; nothing for other jobs. */
export function ContinuesJob({
  job,
  openJob,
  trans
}: IContinuationProps): React.JSX.Element | null {
  const { continues } = job;
  return continues ? (
    <>
      <JobLink id={continues.job} openJob={openJob} />
      {` · ${trans.__('after its eviction, from')} `}
      <code>{continues.checkpoint}</code>
      {` · ${trans.__('continuation %1 of at most %2', continues.number, MOST_CONTINUATIONS)}`}
    </>
  ) : null;
}

function JobLink({
  id,
  openJob
}: {
  id: string;
  openJob(id: string): void;
}): React.JSX.Element {
  return (
    <LinkButton onClick={() => openJob(id)}>
      {id.split(':')[2] ?? id}
    </LinkButton>
  );
}
