/** Notices above a job's panes, and the page of a removed job. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Job } from '../../api/types';
import { jobIcon } from '../../ui/icons';
import { CommandIDs } from '../../tokens';
import { Banner } from '../../ui/Banner';
import { Button, LinkButton } from '../../ui/Buttons';
import { EmptyState } from '../../ui/EmptyState';
import { sentences } from '../../common/format';

/** Notices that a job is deleted, read-only or not fully visible to the user. */
export function Notices({
  job,
  run,
  trans
}: {
  job: Job;
  run(command: string): void;
  trans: TranslationBundle;
}): React.JSX.Element {
  return (
    <>
      {job.deleted && (
        <Banner
          level="info"
          title={trans.__('This job was deleted.')}
          actions={
            job.actions.includes('remove') && (
              <LinkButton onClick={() => run(CommandIDs.remove)}>
                {trans.__('Remove record and logs…')}
              </LinkButton>
            )
          }
        >
          {trans.__('Its record and its logs are kept.')}
        </Banner>
      )}
      {job.read_only && <Banner level="info" title={job.read_only} />}
      {job.limited.length > 0 && (
        <Banner
          level="info"
          title={trans.__('Parts of this job can’t be read.')}
        >
          {sentences(job.limited)}
        </Banner>
      )}
    </>
  );
}

/** Page for a job whose record was removed. */
export function Gone(props: {
  close(): void;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { trans } = props;
  return (
    <EmptyState
      icon={jobIcon}
      title={trans.__('This job is gone')}
      actions={
        <Button onClick={props.close}>{trans.__('Close this tab')}</Button>
      }
    >
      <p>
        {trans.__(
          'Its record and its logs were removed. The files that the job wrote are kept.'
        )}
      </p>
    </EmptyState>
  );
}
