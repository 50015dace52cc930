/** Header of a run's page: state, job, note, tags, best values, actions. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { formatDuration } from '../../common/format';
import { Button, LinkButton } from '../../ui/Buttons';
import { MoreButton } from '../../ui/MenuButton';
import { ReasonButton } from '../../ui/ReasonButton';
import { tensorBoardIcon } from '../../ui/icons';
import { Time } from '../../ui/Time';
import { formatValue } from '../charts/numbers';
import { RunRow } from '../../api/types';
import {
  compareWith,
  copyAsPandas,
  deleteRun,
  editNote,
  editTags
} from './actions';
import { bestOf } from './model/best';
import { labelsOf } from '../model/fields';
import { IRunLab } from './pageLab';
import { RunModel } from './model/run';
import { StatusIcon } from './StatusIcon';
import { tensorBoardPaths } from './model/tensorBoard';

/** Number of best values in the header. */
const MOST_BEST = 2;

interface IRunHeaderProps {
  model: RunModel;
  row: RunRow;
  lab: IRunLab;
  trans: TranslationBundle;
}

/** Header of a run: its name, state and times, actions, tags, job, best values and note. */
export function RunHeader(props: IRunHeaderProps): React.JSX.Element {
  const { model, row, lab, trans } = props;
  const { job } = row;
  const name = React.useRef<HTMLHeadingElement>(null);
  return (
    <div className="jp-t9k-JobHeader jp-t9k-RunHeader">
      <div className="jp-t9k-JobHeader-title">
        <StatusIcon status={row.status} size={18} />
        <h2 ref={name} tabIndex={-1} title={row.path ?? row.name}>
          {row.name}
        </h2>
        <span className="jp-t9k-JobHeader-facts">
          <Facts row={row} trans={trans} />
        </span>
        <Actions {...props} />
      </div>
      <div className="jp-t9k-RunHeader-tags">
        {row.archived && (
          <span className="jp-t9k-Tag">{trans.__('archived')}</span>
        )}
        {labelsOf(row).map(label => (
          <span
            key={label}
            className="jp-t9k-Tag"
            title={trans.__('Label of the script: %1', label)}
          >
            {label}
          </span>
        ))}
        {row.tags.map(tag => (
          <span key={tag} className="jp-t9k-Tag" title={tag}>
            {tag}
          </span>
        ))}
        <LinkButton onClick={() => void editTags(model, row, lab, trans)}>
          {row.tags.length > 0 ? trans.__('Edit tags') : trans.__('Add a tag')}
        </LinkButton>
        {job && (
          <LinkButton onClick={() => lab.openJob(job.id)}>
            {trans.__('Job %1', job.name)}
          </LinkButton>
        )}
        <BestValues {...props} />
      </div>
      {model.detail?.description && (
        <p className="jp-t9k-RunHeader-note">{model.detail.description}</p>
      )}
      <p className="jp-t9k-secondary">
        {row.note && <span className="jp-t9k-RunHeader-note">{row.note} </span>}
        <LinkButton onClick={() => void editNote(model, row, lab, trans)}>
          {row.note ? trans.__('Edit the note') : trans.__('Add a note')}
        </LinkButton>
      </p>
    </div>
  );
}

/** State, duration, start and suffix of a run. */
function Facts({
  row,
  trans
}: Pick<IRunHeaderProps, 'row' | 'trans'>): React.JSX.Element {
  const { sentence, seconds, started_at, suffix } = row;
  return (
    <>
      {sentence}
      {seconds !== null && ` · ${formatDuration(seconds, trans)}`}
      {started_at !== null && (
        <>
          {' · '}
          <Time time={started_at} trans={trans} />
        </>
      )}
      {suffix && ` · ${suffix}`}
    </>
  );
}

/** Best values of the first metrics whose direction is known; validation before training. */
function BestValues({ model, row, trans }: IRunHeaderProps): React.JSX.Element {
  const found = Object.entries(row.metrics)
    .flatMap(([name, metric]) => {
      const best = bestOf(metric, model.goal(name));
      return best ? [{ name, ...best }] : [];
    })
    .sort(
      (a, b) => Number(/^train/i.test(a.name)) - Number(/^train/i.test(b.name))
    )
    .slice(0, MOST_BEST);
  return (
    <dl className="jp-t9k-JobHeader-metrics">
      {found.map(({ name, value, step }) => (
        <div
          key={name}
          title={
            step === null
              ? undefined
              : trans.__('Best value, at step %1', formatValue(step))
          }
        >
          <dt>{name}</dt>
          <dd>{formatValue(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Buttons of the header. */
function Actions(props: IRunHeaderProps): React.JSX.Element {
  const { model, row, lab, trans } = props;
  const paths = tensorBoardPaths([row], lab);
  const attempts = model.detail?.attempts ?? [];
  return (
    <span className="jp-t9k-RunHeader-actions">
      <ReasonButton
        icon={tensorBoardIcon}
        problem={
          paths.length > 0
            ? null
            : trans.__('The run has no TensorBoard event files.')
        }
        onClick={() => lab.openTensorBoard(paths)}
      >
        {trans.__('TensorBoard')}
      </ReasonButton>
      <Button onClick={() => void compareWith(model, row, lab, trans)}>
        {trans.__('Compare…')}
      </Button>
      <MoreButton
        label={trans.__('More actions for run %1', row.name)}
        items={() => [
          {
            label: trans.__('Copy as pandas'),
            execute: () => copyAsPandas([row], lab, trans)
          },
          {
            label: trans.__('Copy Address'),
            execute: () =>
              lab.copy(
                lab.address('run', [row.id]),
                trans.__('The address of the run was copied.')
              )
          },
          ...(attempts.length > 1
            ? [
                {
                  label: trans.__('Compare the Attempts of the Job'),
                  execute: () => lab.openComparison(attempts)
                }
              ]
            : []),
          null,
          {
            label: row.archived
              ? trans.__('Restore from the Archive')
              : trans.__('Archive'),
            execute: () =>
              void model
                .change({ archived: !row.archived })
                .catch(error => lab.notifyError(error))
          },
          {
            label: trans.__('Delete…'),
            execute: () => void deleteRun(model, row, lab, trans)
          }
        ]}
      />
    </span>
  );
}
