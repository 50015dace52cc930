/** Line above the charts with the position of the reading line. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { formatClock, formatDuration, formatMoment } from '../../common/format';
import { useSignal } from '../../common/hooks';
import { LinkButton } from '../../ui/Buttons';
import { formatValue } from '../charts/numbers';
import { positionText } from '../charts/text';
import { IRunLab } from './pageLab';
import { RunModel } from './model/run';
import { checkpointAt } from './model/checkpoints';
import { IPosition } from './model/positions';

interface IReadingRowProps {
  model: RunModel;
  lab: IRunLab;
  trans: TranslationBundle;
}

/** Position of the reading line on all axes, and the link to the job's log at that time. */
export function ReadingRow(props: IReadingRowProps): React.JSX.Element {
  const { model, lab, trans } = props;
  const { line, look, origin } = model;
  useSignal(line.changed);
  useSignal(line.zoomed);
  const position = usePosition(model);
  const { job, started_at } = model.row ?? { job: null, started_at: null };
  const { at } = line;
  const others: string[] = [];
  if (at !== null && position) {
    const { step, epoch, time } = position;
    if (look.x !== 'step' && step !== null) {
      others.push(trans.__('step %1', formatValue(step)));
    }
    if (look.x !== 'epoch' && epoch !== null) {
      others.push(trans.__('epoch %1', formatValue(epoch)));
    }
    if (time !== null) {
      others.push(formatMoment(time, trans));
      if (look.x !== 'time' && started_at !== null) {
        const after = formatDuration(Math.max(0, time - started_at), trans);
        others.push(trans.__('%1 after the start', after));
      }
    }
  }
  const time =
    at === null ? null : (position?.time ?? (origin ? at + origin : null));
  const checkpoint = checkpointAt(
    model.detail?.checkpoint_files ?? [],
    position?.epoch ?? null,
    time
  );
  return (
    <div className="jp-t9k-ReadingRow">
      {at === null ? (
        <span className="jp-t9k-secondary">{trans.__('Last values')}</span>
      ) : (
        <span>
          <strong>{positionText(at, look.x, trans)}</strong>
          {others.map(text => ` · ${text}`)}
        </span>
      )}
      {job && time !== null && line.isHeld && (
        <LinkButton onClick={() => lab.openJob(job.id, time)}>
          {trans.__('Log at %1', formatClock(time, true))}
        </LinkButton>
      )}
      {job && time !== null && line.isHeld && (
        <LinkButton onClick={() => lab.openResources(job.id, time)}>
          {trans.__('Resources at %1', formatClock(time, true))}
        </LinkButton>
      )}
      {checkpoint && line.isHeld && (
        <LinkButton
          title={checkpoint.path}
          onClick={() => lab.openFile(checkpoint.path)}
        >
          {checkpoint.epoch === null
            ? trans.__(
                'Checkpoint of %1',
                formatClock(checkpoint.modified_at, true)
              )
            : trans.__('Checkpoint of epoch %1', checkpoint.epoch)}
        </LinkButton>
      )}
      {line.range && (
        <LinkButton onClick={() => line.zoom(null)}>
          {trans.__('Show the whole range')}
        </LinkButton>
      )}
      <span className="jp-t9k-secondary jp-t9k-ReadingRow-help">
        {line.isHeld
          ? trans.__('Escape lets the line go. Arrow keys move the line.')
          : trans.__('A click holds the line. Dragging zooms.')}
      </span>
    </div>
  );
}

/** Return the position of a held line on all axes; null while it is not held or not known. */
function usePosition(model: RunModel): IPosition | null {
  const { line, look, origin } = model;
  const [position, setPosition] = React.useState<IPosition | null>(null);
  const at = line.isHeld ? line.at : null;
  React.useEffect(() => {
    let isCurrent = true;
    if (at === null) {
      setPosition(null);
      return;
    }
    model.positions().then(
      positions => isCurrent && setPosition(positions.at(at + origin, look.x)),
      // the row then shows the position on the axis alone
      () => isCurrent && setPosition(null)
    );
    return () => {
      isCurrent = false;
    };
  }, [model, at, origin, look.x]);
  return position;
}
