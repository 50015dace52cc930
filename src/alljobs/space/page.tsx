/** Page about the disk space of the records of jobs; loaded when its tab is opened. */
import { Dialog, Notification, ReactWidget } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { KeptJob } from '../../api/types';
import { formatBytes, listed } from '../../common/format';
import { placesText } from '../../job/confirm';
import { namedDialog } from '../../shell/dialog';
import { ERROR_STAYS, notifyError } from '../../shell/notices';
import { CommandIDs } from '../../tokens';
import { Confirm, IConsequence } from '../../ui/Confirm';
import { jobIcon } from '../../ui/icons';
import { IAllJobsLab } from '../host';
import { sizeOf, SpaceModel } from './model';
import { SpaceView } from './SpaceView';
import '../../../style/pages.css';
import '../../../style/experiments/table.css';
import '../../../style/experiments/toolbar.css';
import '../../../style/alljobs/table.css';

/** Jobs that the dialog names. */
const NAMED = 3;

/** Create the content of the tab. */
export function createSpace(lab: IAllJobsLab): ReactWidget {
  const { app, jobs, trans } = lab;
  const model = new SpaceModel({
    space: () => jobs.api.space(),
    remove: async ids => {
      const request = { action: 'remove' as const, ids, remove: false };
      const { problems } = await jobs.api.actOnAll(request);
      return problems.map(({ message }) => message);
    }
  });
  const widget = ReactWidget.create(
    <SpaceView
      model={model}
      open={id => void app.commands.execute(CommandIDs.openJob, { id })}
      clear={() => void clear(model, lab)}
      trans={trans}
    />
  );
  widget.addClass('jp-t9k-View');
  widget.addClass('jp-t9k-AllJobs');
  widget.node.tabIndex = -1;
  widget.title.icon = jobIcon;
  widget.title.label = trans.__('Space');
  return widget;
}

async function clear(model: SpaceModel, { trans }: IAllJobsLab): Promise<void> {
  const { selected } = model;
  const largest = listed(
    selected
      .slice(0, NAMED)
      .map(({ name, size }) => trans.__('%1 (%2)', name, formatBytes(size)))
  );
  const { button } = await namedDialog({
    title: trans._n(
      'Remove the record of %1 job?',
      'Remove the records of %1 jobs?',
      selected.length
    ),
    body: (
      <Confirm
        says={trans.__('The largest: %1.', largest)}
        consequences={consequencesOf(selected, trans)}
        titles={{
          lost: trans.__('Will be deleted:'),
          kept: trans.__('Will be kept:')
        }}
      />
    ),
    buttons: [
      Dialog.cancelButton(),
      Dialog.warnButton({ label: trans.__('Remove') })
    ],
    defaultButton: 0
  }).launch();
  if (!button.accept) {
    return;
  }
  try {
    const problems = await model.removeSelected();
    if (problems.length > 0) {
      Notification.error(
        trans._n(
          '%1 record was not removed. %2',
          '%1 records were not removed. The first one: %2',
          problems.length,
          problems[0]
        ),
        { autoClose: ERROR_STAYS }
      );
    }
  } catch (error) {
    notifyError(error, trans);
  }
}

/** Return what the removal of records deletes and keeps. */
export function consequencesOf(
  jobs: readonly KeptJob[],
  trans: TranslationBundle
): IConsequence[] {
  const listed = jobs.filter(({ deleted }) => !deleted).length;
  return [
    {
      kind: 'lost',
      text: trans.__(
        'Records, logs, samples and stacks, %1.',
        formatBytes(sizeOf(jobs))
      )
    },
    ...(listed > 0
      ? [
          {
            kind: 'lost' as const,
            text: placesText(listed, trans)
          }
        ]
      : []),
    {
      kind: 'kept',
      text: trans.__(
        'The files that the jobs wrote: checkpoints, event files, results.'
      )
    },
    { kind: 'kept', text: trans.__('Jobs that are active.') }
  ];
}
