/** Rows of the table: a job, a sweep, and the head of a group. */
import {
  caretDownIcon,
  caretRightIcon,
  ellipsesIcon,
  LabIcon
} from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { JobSummary } from '../../api/types';
import { serverNow } from '../../common/clock';
import { formatDay, listed } from '../../common/format';
import { useTicking } from '../../common/hooks';
import { JobName } from '../../jobs/JobName';
import { jobTitle } from '../../jobs/sentence';
import { LinkButton } from '../../ui/Buttons';
import { Check } from '../../ui/table/Check';
import { Icon } from '../../ui/Icon';
import { tensorBoardIcon } from '../../ui/icons';
import { logIcon } from '../../ui/pageIcons';
import { IJobColumn } from '../model/columns';
import { sumOfHours } from '../model/facts';
import { IGroupRow, ISweepRow } from '../model/rows';
import { Cell, cellTitle, ICellContext, SweepCell } from './cells';
import { countsText, gpuHoursText, jobsText } from './text';

/** Actions of rows. The object is the same in all renderings. */
export interface IRowActions {
  open(job: JobSummary): void;
  openLog(job: JobSummary): void;
  openTensorBoard(jobs: readonly JobSummary[]): void;
  /** Select a job; with `isRange`, all jobs since the last selected one as well. */
  select(job: JobSummary, isRange: boolean): void;
  /** Select all jobs of a group, or none of them. */
  selectAll(jobs: readonly JobSummary[], isSelected: boolean): void;
  /** Open or fold a group or a sweep. */
  toggle(key: string): void;
  openMenu(job: JobSummary, x: number, y: number): void;
  openSweepMenu(id: string, x: number, y: number): void;
}

interface IRowProps extends ICellContext {
  /** Position in the table, from 0. */
  index: number;
  columns: readonly IJobColumn[];
  actions: IRowActions;
}

interface IJobRowProps extends IRowProps {
  job: JobSummary;
  /** True if the job is below the row of its sweep. */
  isMember: boolean;
  /** Level of the row in the tree of groups and sweeps, from 1. */
  level: number;
  isSelected: boolean;
}

/** Row of a job. It renders again only if its job, its columns or its selection changed. */
export const JobTableRow = React.memo((props: IJobRowProps) => {
  const { job, index, columns, isMember, isSelected, actions, trans } = props;
  const name = jobTitle(job);
  const values = isMember ? Object.values(job.sweep?.values ?? {}) : [];
  return (
    <tr
      aria-rowindex={index + 2}
      aria-level={props.level}
      aria-selected={isSelected}
      data-index={index}
      data-job={job.id}
      data-member={isMember || undefined}
      data-deleted={job.deleted || undefined}
      onContextMenu={event => {
        event.preventDefault();
        event.stopPropagation();
        const box = (event.target as HTMLElement).getBoundingClientRect();
        // A menu that the keyboard opens has no position.
        actions.openMenu(
          job,
          event.clientX || box.left,
          event.clientY || box.bottom
        );
      }}
    >
      <td role="gridcell" tabIndex={-1}>
        <Check
          label={trans.__('Select %1', name)}
          checked={isSelected}
          onChange={event => actions.select(job, event.shiftKey)}
        />
      </td>
      <td
        role="rowheader"
        tabIndex={-1}
        className="jp-t9k-Runs-name"
        title={name}
      >
        <LinkButton tabIndex={-1} onClick={() => actions.open(job)}>
          <JobName job={job} />
        </LinkButton>
        {values.length > 0 && (
          <small className="jp-t9k-caption"> {listed(values)}</small>
        )}
        {job.deleted && (
          <span className="jp-t9k-Runs-tag">{trans.__('deleted')}</span>
        )}
      </td>
      {columns.map(column => (
        <td
          key={column.key}
          role="gridcell"
          tabIndex={-1}
          data-kind={column.kind}
          data-number={column.isNumber || undefined}
          title={cellTitle(job, column, props) || undefined}
        >
          <Cell {...props} column={column} />
        </td>
      ))}
      <td role="gridcell" tabIndex={-1} className="jp-t9k-AllJobs-actions">
        <RowActions job={job} actions={actions} trans={trans} />
      </td>
    </tr>
  );
});
JobTableRow.displayName = 'JobTableRow';

/** Buttons that appear on hover and focus. The context menu contains the same actions. */
function RowActions({
  job,
  actions,
  trans
}: {
  job: JobSummary;
  actions: IRowActions;
  trans: TranslationBundle;
}): React.JSX.Element {
  const name = jobTitle(job);
  const button = (
    icon: LabIcon,
    label: string,
    onClick: (event: React.MouseEvent<HTMLElement>) => void
  ): React.JSX.Element => (
    <button
      type="button"
      tabIndex={-1}
      className="jp-t9k-IconButton"
      aria-label={label}
      title={label}
      onClick={onClick}
      // The SVG is inserted as text, as in the column of states.
      dangerouslySetInnerHTML={{ __html: icon.svgstr }}
    />
  );
  return (
    <>
      {button(ellipsesIcon, trans.__('Actions on %1', name), event => {
        const box = event.currentTarget.getBoundingClientRect();
        actions.openMenu(job, box.left, box.bottom);
      })}
      {job.log_dirs.length > 0 &&
        button(tensorBoardIcon, trans.__('Open %1 in TensorBoard', name), () =>
          actions.openTensorBoard([job])
        )}
      {button(logIcon, trans.__('Show the log of %1', name), () =>
        actions.openLog(job)
      )}
    </>
  );
}

interface IHeadProps extends IRowProps {
  selected: ReadonlySet<string>;
}

/** Box that selects all jobs of a group. */
function GroupCheck({
  jobs,
  name,
  selected,
  actions,
  trans
}: Pick<IHeadProps, 'selected' | 'actions' | 'trans'> & {
  jobs: readonly JobSummary[];
  name: string;
}): React.JSX.Element {
  const count = jobs.filter(({ id }) => selected.has(id)).length;
  return (
    <Check
      label={trans.__('Select all jobs of %1', name)}
      checked={count === 0 ? false : count === jobs.length ? true : null}
      onChange={() => actions.selectAll(jobs, count < jobs.length)}
    />
  );
}

/** Row of a sweep with a summary of its jobs. */
export function SweepTableRow(
  props: IHeadProps & { row: ISweepRow; level: number }
): React.JSX.Element {
  const { row, level, index, columns, actions, trans } = props;
  const { name, jobs, isOpen } = row;
  return (
    <tr
      aria-rowindex={index + 2}
      aria-level={level}
      aria-expanded={isOpen}
      data-index={index}
      data-sweep={row.id}
      onContextMenu={event => {
        event.preventDefault();
        event.stopPropagation();
        const box = (event.target as HTMLElement).getBoundingClientRect();
        actions.openSweepMenu(
          row.id,
          event.clientX || box.left,
          event.clientY || box.bottom
        );
      }}
    >
      <td role="gridcell" tabIndex={-1}>
        <GroupCheck {...props} jobs={jobs} name={name} />
      </td>
      <td
        role="rowheader"
        tabIndex={-1}
        className="jp-t9k-AllJobs-fold"
        title={name}
      >
        <FoldButton isOpen={isOpen} onClick={() => actions.toggle(row.key)}>
          <strong>{name}</strong>{' '}
          <small className="jp-t9k-caption">
            {trans.__('sweep of %1', jobs.length)}
          </small>
        </FoldButton>
      </td>
      {columns.map(column => (
        <td
          key={column.key}
          role="gridcell"
          tabIndex={-1}
          data-kind={column.kind}
          data-number={column.isNumber || undefined}
        >
          <SweepCell {...props} jobs={jobs} column={column} />
        </td>
      ))}
      <td role="gridcell" tabIndex={-1} />
    </tr>
  );
}

/** Head of a group with the states and the GPU-hours of its jobs. */
export function GroupTableRow(
  props: IHeadProps & { row: IGroupRow }
): React.JSX.Element {
  const { row, index, columns, actions, trans } = props;
  const { jobs, isOpen, label } = row;
  const name =
    typeof label === 'number'
      ? formatDay(label, trans)
      : label || trans.__('you');
  const hours = useTicking(() => gpuHoursText(sumOfHours(jobs, serverNow())));
  const at = columns.findIndex(({ kind }) => kind === 'hours');
  const span = at < 0 ? columns.length : at;
  return (
    <tr
      aria-rowindex={index + 2}
      aria-level={1}
      aria-expanded={isOpen}
      data-index={index}
      className="jp-t9k-Runs-group"
    >
      <td role="gridcell" tabIndex={-1}>
        <GroupCheck {...props} jobs={jobs} name={name} />
      </td>
      <td
        role="rowheader"
        tabIndex={-1}
        colSpan={span + 1}
        className="jp-t9k-AllJobs-fold"
      >
        <FoldButton isOpen={isOpen} onClick={() => actions.toggle(row.key)}>
          <strong>{name}</strong>{' '}
          <span className="jp-t9k-secondary">
            {jobsText(jobs.length, trans)}: {countsText(jobs, trans)}
          </span>
        </FoldButton>
      </td>
      {at >= 0 && (
        <td role="gridcell" tabIndex={-1} data-number>
          <strong>{hours}</strong>
        </td>
      )}
      <td
        role="gridcell"
        tabIndex={-1}
        colSpan={at < 0 ? 1 : columns.length - at}
      />
    </tr>
  );
}

function FoldButton({
  isOpen,
  onClick,
  children
}: {
  isOpen: boolean;
  onClick(): void;
  children: React.ReactNode;
}): React.JSX.Element {
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-expanded={isOpen}
      onClick={onClick}
    >
      <Icon of={isOpen ? caretDownIcon : caretRightIcon} size={16} />
      <span>{children}</span>
    </button>
  );
}
