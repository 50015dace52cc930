/** Cells of a run. */
import { TranslationBundle } from '@jupyterlab/translation';
import { LabIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { serverNow } from '../../../common/clock';
import { formatClock, formatExact, formatTime } from '../../../common/format';
import { useTicking } from '../../../common/hooks';
import { LinkButton } from '../../../ui/Buttons';
import { stateIcons, warningIcon } from '../../../ui/icons';
import { ITableColumn } from '../../model/columns';
import { labelsOf } from '../../model/fields';
import { RunRow } from '../../../api/types';
import { Curve } from './Curve';
import { formatClockDuration, formatMetric, formatScalar } from '../text';

/** Actions of the cells. */
export interface ICellActions {
  /** Opens the page of a run; null if this version has no such page. */
  openRun: ((id: string) => void) | null;
  openJob(id: string): void;
}

interface ICellProps {
  run: RunRow;
  column: ITableColumn;
  /** True if the run has the best value of the column. */
  isBest: boolean;
  actions: ICellActions;
  trans: TranslationBundle;
}

/** Return the tooltip of a cell whose text may be cut. */
export function cellTitle(run: RunRow, column: ITableColumn): string {
  switch (column.kind) {
    case 'status':
      return run.sentence;
    case 'started':
      return run.started_at === null ? '' : formatExact(run.started_at);
    case 'curve':
      return '';
    case 'metric':
      return String(column.value(run) ?? '');
    default:
      return String(column.value(run) ?? '');
  }
}

/** The content of a cell. A value that is not known is an empty cell. */
export function Cell(props: ICellProps): React.JSX.Element | null {
  const { run, column, isBest, actions, trans } = props;
  switch (column.kind) {
    case 'status':
      return <Status run={run} />;
    case 'job':
      return run.job ? (
        <LinkButton
          tabIndex={-1}
          onClick={() => run.job && actions.openJob(run.job.id)}
        >
          {run.job.name}
        </LinkButton>
      ) : (
        <span className="jp-t9k-Runs-pale">{trans.__('no job')}</span>
      );
    case 'started':
      return <>{startText(run.started_at, trans)}</>;
    case 'duration':
      return run.status === 'running' && run.started_at !== null ? (
        <Running since={run.started_at} />
      ) : (
        <>{run.seconds === null ? '' : formatClockDuration(run.seconds)}</>
      );
    case 'folder':
      return <>{run.path}</>;
    case 'tags':
      return (
        <>
          {run.tags.map(tag => (
            <span key={tag} className="jp-t9k-Runs-tag">
              {tag}
            </span>
          ))}
        </>
      );
    case 'labels':
      return (
        <>
          {labelsOf(run).map(label => (
            <span key={label} className="jp-t9k-Runs-tag">
              {label}
            </span>
          ))}
        </>
      );
    case 'note':
      return <>{run.note}</>;
    case 'curve':
      return Object.hasOwn(run.metrics, column.name) ? (
        <Curve values={run.metrics[column.name].curve} />
      ) : null;
    case 'metric':
      return <Metric run={run} column={column} isBest={isBest} trans={trans} />;
    default: {
      const value = column.value(run);
      return <>{formatScalar(value)}</>;
    }
  }
}

/** Name of a run, with the suffix and the origin if they are needed. */
export function RunName({
  run,
  hasSuffix,
  actions,
  trans
}: Pick<ICellProps, 'run' | 'actions' | 'trans'> & {
  hasSuffix: boolean;
}): React.JSX.Element {
  const { openRun } = actions;
  const source = run.origin === 'recorder' ? null : run.origin;
  return (
    <>
      {openRun ? (
        <LinkButton tabIndex={-1} onClick={() => openRun(run.id)}>
          {run.name}
        </LinkButton>
      ) : (
        <span>{run.name}</span>
      )}
      {hasSuffix && run.suffix && (
        <small className="jp-t9k-caption">{run.suffix}</small>
      )}
      {source && (
        <span className="jp-t9k-Runs-tag" title={originText(source, trans)}>
          {source}
        </span>
      )}
      {run.archived && (
        <span className="jp-t9k-Runs-tag">{trans.__('archived')}</span>
      )}
    </>
  );
}

/** Return the origin of a run that no recorder wrote. */
function originText(
  origin: Exclude<RunRow['origin'], 'recorder'>,
  trans: TranslationBundle
): string {
  switch (origin) {
    case 'events':
      return trans.__('Metrics from TensorBoard event files');
    case 'mlflow':
      return trans.__('Read from an MLflow file store');
    case 'wandb':
      return trans.__('Read from a W&B offline directory');
    case 'job':
      return trans.__('Hyperparameters from the arguments of the job');
  }
}

const ICONS: Record<RunRow['status'], { state: string; icon: LabIcon }> = {
  complete: { state: 'succeeded', icon: stateIcons.succeeded },
  running: { state: 'running', icon: stateIcons.running },
  error: { state: 'failed', icon: stateIcons.failed },
  stale: { state: 'stale', icon: warningIcon },
  unknown: { state: 'unknown', icon: stateIcons.unknown }
};

/**
 * The status as an icon and a sentence.
 *
 * The SVG is inserted as text. JupyterLab's icon component takes ten times as long, and all rows in view are new
 * after a jump.
 */
function Status({ run }: { run: RunRow }): React.JSX.Element {
  const { state, icon } = ICONS[run.status];
  return (
    <span className="jp-t9k-Runs-status">
      <span
        className="jp-t9k-PhaseIcon"
        data-state={state}
        aria-hidden
        dangerouslySetInnerHTML={{ __html: icon.svgstr }}
      />
      <span>{run.sentence}</span>
    </span>
  );
}

function Metric({
  run,
  column,
  isBest,
  trans
}: Omit<ICellProps, 'actions'>): React.JSX.Element | null {
  const value = column.value(run);
  if (typeof value !== 'number') {
    return null;
  }
  if (column.mode === 'step') {
    return <>{String(value)}</>;
  }
  return isBest ? (
    <>
      <small>{trans.__('best')}</small> <strong>{formatMetric(value)}</strong>
    </>
  ) : (
    <>{formatMetric(value)}</>
  );
}

function Running({ since }: { since: number }): React.JSX.Element {
  return <>{useTicking(() => formatClockDuration(serverNow() - since))}</>;
}

/** Return when a run started: “10:05”, or “Nov 20 18:02”. */
function startText(time: number | null, trans: TranslationBundle): string {
  if (time === null) {
    return '';
  }
  const [day, clock] = [formatTime(time, trans), formatClock(time)];
  return day === clock ? clock : `${day} ${clock}`;
}
