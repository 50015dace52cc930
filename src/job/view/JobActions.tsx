/** Toolbar of a job's actions. */
import { TranslationBundle } from '@jupyterlab/translation';
import {
  deleteIcon,
  duplicateIcon,
  ellipsesIcon,
  LabIcon,
  refreshIcon,
  runIcon,
  stopIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';
import { Action } from '../../api/aliases';
import { Job } from '../../api/types';
import { stateIcons, tensorBoardIcon } from '../../ui/icons';
import { pauseIcon } from '../../ui/pageIcons';
import { canAsk, isActive, isOpenTo, pendingText } from '../../jobs/phase';
import { CommandIDs } from '../../tokens';
import { IconButton } from '../../ui/Buttons';
import { Icon } from '../../ui/Icon';

/** A button of the toolbar. */
interface IAction {
  command: string;
  label: string;
  icon: LabIcon;
  /** True for the recommended action, which has a frame. */
  main?: boolean;
  /** Reason why the action is refused; the button is disabled. */
  refusal?: string | null;
  /** URL of a page that the button opens instead of running the command. */
  url?: string;
}

/** Properties of the toolbar. */
interface IJobActionsProps {
  job: Job;
  trans: TranslationBundle;
  run(command: string): void;
  /** Return true if the lab has a command. */
  has(command: string): boolean;
  openMenu(anchor: HTMLElement): void;
}

/** Toolbar of a job's actions. It shows a pending action as text. */
export function JobActions(props: IJobActionsProps): React.JSX.Element {
  const { job, trans, run } = props;
  const pending = job.pending_action;
  const id = React.useId();
  return (
    <div
      className="jp-t9k-JobActions"
      role="toolbar"
      aria-label={trans.__('Actions of %1', job.name)}
    >
      {pending && (
        <span className="jp-t9k-JobActions-pending" role="status">
          <Icon of={stateIcons.submitting} size={16} />
          {pendingText(pending, trans)}
        </span>
      )}
      {actionsOf(job, trans)
        .filter(action => action.url || props.has(action.command))
        .map(({ command, label, icon, main, refusal, url }) =>
          url ? (
            <a
              key={command}
              className="jp-t9k-JobActions-action"
              href={url}
              target="_blank"
              rel="noopener noreferrer"
              aria-label={label}
              title={trans.__('TensorBoard of the platform, in a new tab')}
            >
              <Icon of={icon} size={16} />
              <span>{label}</span>
            </a>
          ) : (
            <button
              key={command}
              type="button"
              className="jp-t9k-JobActions-action"
              data-main={main}
              title={refusal ?? label}
              aria-label={label}
              aria-disabled={refusal ? true : undefined}
              aria-describedby={refusal ? `${id}-${command}` : undefined}
              onClick={({ detail }) => {
                // Ignore the second click of a double click: Resume may have replaced Pause in the meantime.
                if (!refusal && detail < 2) {
                  run(command);
                }
              }}
            >
              <Icon of={icon} size={16} />
              <span>{label}</span>
              {refusal && (
                <span className="jp-t9k-visuallyHidden" id={`${id}-${command}`}>
                  {refusal}
                </span>
              )}
            </button>
          )
        )}
      <IconButton
        icon={ellipsesIcon}
        label={trans.__('More actions')}
        aria-haspopup="menu"
        onClick={event => props.openMenu(event.currentTarget)}
      />
    </div>
  );
}

/** Return the buttons in their order. The menu contains the other actions. */
function actionsOf(job: Job, trans: TranslationBundle): IAction[] {
  const actions: IAction[] = [];
  if (job.log_dirs.length > 0) {
    actions.push({
      command: CommandIDs.openTensorBoard,
      label: trans.__('TensorBoard'),
      icon: tensorBoardIcon
    });
  } else {
    const url = job.tensorboard_url && webAddress(job.tensorboard_url);
    if (url) {
      actions.push({
        command: CommandIDs.openTensorBoard,
        label: trans.__('TensorBoard'),
        icon: tensorBoardIcon,
        url
      });
    }
  }
  const refusal = (action: Action): string | null =>
    (isOpenTo(job, action) && job.refused[action]) || null;
  const offers = (action: Action): boolean =>
    canAsk(job, action) || refusal(action) !== null;
  if (offers('resume')) {
    actions.push({
      command: CommandIDs.resume,
      label: trans.__('Resume'),
      icon: runIcon,
      main: !job.pending_action,
      refusal: refusal('resume')
    });
  }
  if (offers('pause')) {
    actions.push({
      command: CommandIDs.pause,
      label: trans.__('Pause'),
      icon: pauseIcon,
      refusal: refusal('pause')
    });
  }
  if (offers('stop')) {
    actions.push({
      command: CommandIDs.stop,
      label: trans.__('Stop'),
      icon: stopIcon,
      refusal: refusal('stop')
    });
  }
  actions.push({
    command: CommandIDs.clone,
    label: trans._p('button', 'Clone'),
    icon: duplicateIcon
  });
  if (!isActive(job) && offers('rerun')) {
    actions.push({
      command: CommandIDs.rerun,
      label: trans.__('Run again'),
      icon: refreshIcon,
      refusal: refusal('rerun')
    });
  }
  if (!isActive(job) && offers('delete')) {
    actions.push({
      command: CommandIDs.deleteJob,
      label: trans.__('Delete'),
      icon: deleteIcon,
      refusal: refusal('delete')
    });
  }
  return actions;
}

/** Return the absolute URL of an HTTP address; null for other schemes, such as `javascript:`. */
function webAddress(address: string): string | null {
  try {
    const url = new URL(address, window.location.href);
    return ['http:', 'https:'].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}
