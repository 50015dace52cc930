/** Dialogs that confirm actions on a job. */
import { Dialog } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';
import { JobSummary } from '../api/types';
import { Confirm, IConsequence } from '../ui/Confirm';
import { formatBytes } from '../common/format';
import { canAsk, isActive } from '../jobs/phase';
import { jobTitle } from '../jobs/sentence';
import { namedDialog } from '../shell/dialog';
import { IJobsModel } from '../tokens';

/** Action that the user chose; null if the user cancelled. */
export type StopChoice = 'stop' | 'pause' | null;

/** Ask the user to confirm that a job stops. The dialog offers to pause the job instead. */
export async function confirmStop(
  job: JobSummary,
  trans: TranslationBundle
): Promise<StopChoice> {
  const pausable = canAsk(job, 'pause');
  const consequences: IConsequence[] = [
    {
      kind: 'lost',
      text: trans.__('The progress since its last checkpoint is lost.')
    },
    {
      kind: 'kept',
      text: trans.__(
        'Checkpoints, event files and logs are kept. It can be run again.'
      )
    }
  ];
  if (pausable) {
    consequences.push({
      kind: 'hint',
      text: trans.__(
        'To keep its place in the list and start it again later, pause it instead.'
      )
    });
  }
  const buttons = [Dialog.cancelButton()];
  if (pausable) {
    buttons.push(
      Dialog.createButton({
        label: trans.__('Pause instead'),
        accept: false,
        actions: ['pause']
      })
    );
  }
  buttons.push(
    Dialog.warnButton({ label: trans.__('Stop'), actions: ['stop'] })
  );
  const { button } = await namedDialog({
    title: trans.__('Stop %1?', jobTitle(job)),
    body: <Confirm says={whereItIs(job, trans)} consequences={consequences} />,
    buttons,
    defaultButton: 0
  }).launch();
  return (button.actions[0] as StopChoice | undefined) ?? null;
}

/** Ask the user to confirm that a running job pauses. A resumed job starts from the beginning. */
export async function confirmPause(
  job: JobSummary,
  trans: TranslationBundle
): Promise<boolean> {
  const { button } = await namedDialog({
    title: trans.__('Pause %1?', jobTitle(job)),
    body: (
      <Confirm
        says={whereItIs(job, trans)}
        consequences={[
          {
            kind: 'lost',
            text: trans.__(
              'Its processes end. When it is resumed, the script starts from the beginning, or from a checkpoint that it loads by itself.'
            )
          },
          {
            kind: 'kept',
            text: trans.__('Checkpoints, event files and logs are kept.')
          }
        ]}
      />
    ),
    buttons: [
      Dialog.cancelButton(),
      Dialog.okButton({ label: trans.__('Pause') })
    ],
    defaultButton: 0
  }).launch();
  return button.accept;
}

/**
 * Ask the user to confirm that a job is deleted.
 *
 * @param jobs - Reads the size of the job's logs.
 * @returns `remove` is true if the record and the logs are deleted as well; null if the user cancels.
 */
export async function confirmDelete(
  job: JobSummary,
  jobs: IJobsModel,
  trans: TranslationBundle
): Promise<{ remove: boolean } | null> {
  const body = new DeleteBody(job, await logSize(jobs, job), trans);
  const dialog = namedDialog({
    title: trans.__('Delete %1?', jobTitle(job)),
    body,
    checkbox: {
      label: trans.__('Delete the logs, too'),
      caption: trans.__('Its record and its logs are deleted as well'),
      checked: false
    },
    buttons: [
      Dialog.cancelButton(),
      Dialog.warnButton({ label: trans.__('Delete') })
    ],
    defaultButton: 0
  });
  dialog.node.addEventListener('change', event => {
    body.remove = (event.target as HTMLInputElement).checked;
  });
  const { button, isChecked } = await dialog.launch();
  return button.accept ? { remove: isChecked === true } : null;
}

/**
 * Ask the user to confirm that the record and the logs of a deleted or finished job are removed.
 *
 * @param jobs - Reads the size of the job's logs.
 */
export async function confirmRemove(
  job: JobSummary,
  jobs: IJobsModel,
  trans: TranslationBundle
): Promise<boolean> {
  const text = recordText(await logSize(jobs, job), trans);
  const { button } = await namedDialog({
    title: trans.__('Remove %1?', jobTitle(job)),
    body: (
      <Confirm
        consequences={[
          { kind: 'lost', text },
          { kind: 'kept', text: filesText(trans) }
        ]}
        titles={titlesOf(trans)}
      />
    ),
    buttons: [
      Dialog.cancelButton(),
      Dialog.warnButton({ label: trans.__('Remove') })
    ],
    defaultButton: 0
  }).launch();
  return button.accept;
}

/** Return the size of a job's logs in bytes; null if it can't be read. An error must not prevent a deletion. */
async function logSize(
  jobs: IJobsModel,
  job: JobSummary
): Promise<number | null> {
  try {
    const streams = await jobs.api.logStreams(job.id);
    return streams.reduce((sum, stream) => sum + stream.size, 0);
  } catch (error) {
    console.warn('t9kjob: sizes of logs:', error);
    return null;
  }
}

/** Body of the dialog. The listed consequences follow the checkbox. */
class DeleteBody extends ReactWidget {
  constructor(
    private readonly _job: JobSummary,
    private readonly _logSize: number | null,
    private readonly _trans: TranslationBundle
  ) {
    super();
  }

  /** True if the record and the logs are deleted as well. */
  set remove(remove: boolean) {
    this._remove = remove;
    this.update();
  }

  protected override render(): React.JSX.Element {
    const trans = this._trans;
    const consequences: IConsequence[] = [
      {
        kind: 'lost',
        text: isActive(this._job)
          ? trans.__('The run: its processes end now.')
          : placesText(1, trans)
      },
      {
        kind: this._remove ? 'lost' : 'kept',
        text: recordText(this._logSize, trans)
      },
      { kind: 'kept', text: filesText(trans) }
    ];
    return (
      <Confirm
        says={isActive(this._job) ? whereItIs(this._job, trans) : undefined}
        consequences={consequences}
        titles={titlesOf(trans)}
      />
    );
  }

  private _remove = false;
}

function titlesOf(trans: TranslationBundle): { lost: string; kept: string } {
  return {
    lost: trans.__('Will be deleted:'),
    kept: trans.__('Will be kept:')
  };
}

/** Return the text that jobs leave the list. */
export function placesText(count: number, trans: TranslationBundle): string {
  return trans._n(
    'The job and its place in the list.',
    'The jobs and their places in the list.',
    count
  );
}

function recordText(logSize: number | null, trans: TranslationBundle): string {
  return logSize === null
    ? trans.__('Its record and its logs.')
    : trans.__('Its record and its logs, %1.', formatBytes(logSize));
}

function filesText(trans: TranslationBundle): string {
  return trans.__(
    'The files that it wrote: checkpoints, event files, results.'
  );
}

/** Return a text about the job's progress; undefined if it is not known. */
function whereItIs(
  job: JobSummary,
  trans: TranslationBundle
): string | undefined {
  return job.progress
    ? trans.__('It is at: %1.', job.progress.text)
    : undefined;
}
