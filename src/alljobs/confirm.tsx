/** Dialogs that confirm actions on many jobs. */
import { Dialog } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import { Widget } from '@lumino/widgets';
import * as React from 'react';
import { JobSummary } from '../api/types';
import { serverNow } from '../common/clock';
import { placesText } from '../job/confirm';
import { namedDialog } from '../shell/dialog';
import { jobTitle } from '../jobs/sentence';
import { Confirm, IConsequence } from '../ui/Confirm';
import { BulkKind } from './model/bulk';
import { gpuHours } from './model/facts';
import { gpuHoursText } from './view/text';
import { listed } from '../common/format';

/** Number of jobs that a dialog names. */
const NAMED = 3;

/**
 * Ask the user to confirm an action on several jobs.
 *
 * @param left - Number of selected jobs that are left alone.
 * @returns `remove` is true if records and logs are deleted as well; null if the user cancels.
 */
export async function confirmAll(
  action: BulkKind,
  jobs: readonly JobSummary[],
  left: number,
  trans: TranslationBundle
): Promise<{ remove: boolean } | null> {
  if (action === 'resume') {
    return { remove: false };
  }
  const body = new Body(action, jobs, left, trans);
  const dialog = namedDialog({
    title: titleOf(action, jobs, trans),
    body,
    checkbox:
      action === 'delete' && jobs.some(({ deleted }) => !deleted)
        ? {
            label: trans.__('Delete the logs, too'),
            caption: trans.__('Their records and logs are deleted as well'),
            checked: false
          }
        : null,
    buttons: [
      Dialog.cancelButton(),
      action === 'pause'
        ? Dialog.okButton({ label: trans.__('Pause') })
        : Dialog.warnButton({
            label: action === 'stop' ? trans.__('Stop') : trans.__('Delete')
          })
    ],
    defaultButton: 0
  });
  dialog.node.addEventListener('change', event => {
    body.remove = (event.target as HTMLInputElement).checked;
  });
  const { button, isChecked } = await dialog.launch();
  return button.accept ? { remove: isChecked === true } : null;
}

function titleOf(
  action: BulkKind,
  jobs: readonly JobSummary[],
  trans: TranslationBundle
): string {
  const { length } = jobs;
  const [job] = jobs;
  switch (action) {
    case 'stop':
      return length === 1
        ? trans.__('Stop %1?', jobTitle(job))
        : trans._n('Stop %1 job?', 'Stop %1 jobs?', length);
    case 'pause':
      return length === 1
        ? trans.__('Pause %1?', jobTitle(job))
        : trans._n('Pause %1 job?', 'Pause %1 jobs?', length);
    default:
      return length === 1
        ? trans.__('Delete %1?', jobTitle(job))
        : trans._n('Delete %1 job?', 'Delete %1 jobs?', length);
  }
}

/** Body of the dialog. The listed consequences follow the checkbox. */
class Body extends ReactWidget {
  constructor(
    private readonly _action: BulkKind,
    private readonly _jobs: readonly JobSummary[],
    private readonly _left: number,
    private readonly _trans: TranslationBundle
  ) {
    super();
  }

  /** True if the records and the logs are deleted as well. */
  set remove(remove: boolean) {
    this._remove = remove;
    this.update();
  }

  protected override render(): React.JSX.Element {
    const trans = this._trans;
    return (
      <Confirm
        says={largestText(this._jobs, trans)}
        consequences={consequencesOf(
          this._action,
          this._jobs,
          this._left,
          this._remove,
          this._trans
        )}
        titles={
          this._action === 'delete'
            ? {
                lost: trans.__('Will be deleted:'),
                kept: trans.__('Will be kept:')
              }
            : undefined
        }
      />
    );
  }

  private _remove = false;
}

/**
 * Return what an action on jobs deletes and keeps.
 *
 * @param left - Number of selected jobs that are left alone.
 * @param remove - True if deletion removes the records and logs of all jobs.
 */
export function consequencesOf(
  action: BulkKind,
  jobs: readonly JobSummary[],
  left: number,
  remove: boolean,
  trans: TranslationBundle
): IConsequence[] {
  const alone: IConsequence[] =
    left > 0
      ? [
          {
            kind: 'kept',
            text: trans._n(
              '%1 other selected job is left alone.',
              '%1 other selected jobs are left alone.',
              left
            )
          }
        ]
      : [];
  if (action !== 'delete') {
    return [
      {
        kind: 'lost',
        text:
          jobs.length === 1
            ? trans.__('The progress since the last checkpoint is lost.')
            : trans.__('The progress since their last checkpoints is lost.')
      },
      {
        kind: 'kept',
        text: trans.__('Checkpoints, event files and logs are kept.')
      },
      ...alone
    ];
  }
  const gone = jobs.filter(({ deleted }) => deleted).length;
  const present = jobs.length - gone;
  const records: IConsequence[] = [];
  if (present > 0) {
    records.push(
      {
        kind: 'lost',
        text: placesText(present, trans)
      },
      {
        kind: remove ? 'lost' : 'kept',
        text:
          present === 1
            ? trans.__('Its record and its logs.')
            : trans.__('Their records and their logs.')
      }
    );
  }
  if (gone > 0) {
    records.push({
      kind: 'lost',
      text: trans._n(
        'The record and the logs of %1 job that is deleted already.',
        'The records and the logs of %1 jobs that are deleted already.',
        gone
      )
    });
  }
  return [
    ...records,
    {
      kind: 'kept',
      text:
        jobs.length === 1
          ? trans.__(
              'The files that it wrote: checkpoints, event files, results.'
            )
          : trans.__(
              'The files that they wrote: checkpoints, event files, results.'
            )
    },
    ...alone
  ];
}

/** Return the jobs with the most GPU-hours by name; the names of all jobs if there are few. */
function largestText(
  jobs: readonly JobSummary[],
  trans: TranslationBundle
): string | undefined {
  const now = serverNow();
  const hours = (job: JobSummary): number => gpuHours(job, now) ?? 0;
  const some = [...jobs]
    .sort((a, b) => hours(b) - hours(a))
    .slice(0, NAMED)
    .map(job => {
      const sum = hours(job);
      return sum > 0
        ? trans.__('%1 (%2 GPU-hours)', job.name, gpuHoursText(sum))
        : job.name;
    });
  const largest = listed(some);
  if (jobs.length === 1) {
    return undefined;
  }
  return jobs.length > NAMED
    ? trans.__('Among them: %1.', largest)
    : `${largest}.`;
}

/** Let the user choose a day; the midnight before it in seconds since the epoch. Null if the user cancels. */
export async function askDay(trans: TranslationBundle): Promise<number | null> {
  const node = document.createElement('div');
  const label = document.createElement('label');
  const input = document.createElement('input');
  input.type = 'date';
  const day = new Date();
  day.setDate(day.getDate() - 30);
  input.value = `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
  label.append(`${trans.__('Jobs that ended before')} `, input);
  node.append(label);
  const { button } = await namedDialog({
    title: trans.__('Delete finished jobs'),
    body: new Widget({ node }),
    buttons: [
      Dialog.cancelButton(),
      Dialog.okButton({ label: trans.__('Continue') })
    ]
  }).launch();
  const time = new Date(`${input.value}T00:00`).getTime();
  return button.accept && Number.isFinite(time) ? time / 1000 : null;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
