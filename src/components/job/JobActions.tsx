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
import { Job } from '../../api/types';
import { pauseIcon, stateIcons, tensorBoardIcon } from '../../icons';
import { isActive, pendingText } from '../../model/phase';
import { CommandIDs } from '../../tokens';
import { IconButton } from '../Buttons';

interface IAction {
  command: string;
  label: string;
  icon: LabIcon;
  /** Framed: the one thing to do next. */
  main?: boolean;
}

interface IJobActionsProps {
  job: Job;
  trans: TranslationBundle;
  run(command: string): void;
  /** Whether the lab has a command. */
  has(command: string): boolean;
  openMenu(anchor: HTMLElement): void;
}

/** What can be done to the job; what is on its way is shown, and inert. */
export function JobActions(props: IJobActionsProps): React.JSX.Element {
  const { job, trans, run } = props;
  const pending = job.pending_action;
  return (
    <div
      className="jp-t9k-JobActions"
      role="toolbar"
      aria-label={trans.__('Actions of %1', job.name)}
    >
      {pending && (
        <span className="jp-t9k-JobActions-pending" role="status">
          <stateIcons.submitting.react tag="span" width="16px" height="16px" />
          {pendingText(pending, trans)}
        </span>
      )}
      {actionsOf(job, trans)
        .filter(action => props.has(action.command))
        .map(({ command, label, icon, main }) => (
          <button
            key={command}
            type="button"
            className="jp-t9k-JobActions-action"
            data-main={main}
            title={label}
            onClick={() => run(command)}
          >
            <icon.react tag="span" width="16px" height="16px" />
            <span>{label}</span>
          </button>
        ))}
      <IconButton
        icon={ellipsesIcon}
        label={trans.__('More actions')}
        aria-haspopup="menu"
        onClick={event => props.openMenu(event.currentTarget)}
      />
    </div>
  );
}

/** The buttons, in their order; the menu has the rest. */
function actionsOf(job: Job, trans: TranslationBundle): IAction[] {
  const actions: IAction[] = [];
  // One change at a time: while it is on its way the others would be refused.
  const can = job.pending_action ? [] : job.actions;
  if (job.log_dirs.length > 0) {
    actions.push({
      command: CommandIDs.openTensorBoard,
      label: trans.__('TensorBoard'),
      icon: tensorBoardIcon
    });
  }
  if (can.includes('resume')) {
    actions.push({
      command: CommandIDs.resume,
      label: trans.__('Resume'),
      icon: runIcon,
      main: true
    });
  }
  if (can.includes('pause')) {
    actions.push({
      command: CommandIDs.pause,
      label: trans.__('Pause'),
      icon: pauseIcon
    });
  }
  if (can.includes('stop')) {
    actions.push({
      command: CommandIDs.stop,
      label: trans.__('Stop'),
      icon: stopIcon
    });
  }
  actions.push({
    command: CommandIDs.clone,
    label: trans.__('Clone'),
    icon: duplicateIcon
  });
  if (!isActive(job) && can.includes('rerun')) {
    actions.push({
      command: CommandIDs.rerun,
      label: trans.__('Run again'),
      icon: refreshIcon
    });
  }
  if (!isActive(job) && can.includes('delete')) {
    actions.push({
      command: CommandIDs.deleteJob,
      label: trans.__('Delete'),
      icon: deleteIcon
    });
  }
  return actions;
}
