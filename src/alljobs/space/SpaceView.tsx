/** Page about disk space: the records of all jobs with their sizes. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { KeptJob } from '../../api/types';
import { formatBytes } from '../../common/format';
import { useSignal } from '../../common/hooks';
import { Button, LinkButton } from '../../ui/Buttons';
import { LoadState } from '../../ui/LoadState';
import { ReasonButton } from '../../ui/ReasonButton';
import { timeText } from '../view/text';
import { sizeOf, SpaceModel } from './model';

/** Rows that the table has: the largest. */
const MOST_ROWS = 500;

interface ISpaceViewProps {
  model: SpaceModel;
  open(id: string): void;
  /** Ask for a confirmation, then remove the records of the selected jobs. */
  clear(): void;
  trans: TranslationBundle;
}

/** Shows which job takes how much space, and removes records. */
export function SpaceView(props: ISpaceViewProps): React.JSX.Element {
  const { model, clear, trans } = props;
  useSignal(model.changed);
  const { space, failure, selected, isRemoving } = model;
  if (space === null) {
    return (
      <LoadState
        failure={failure}
        title={trans.__('The sizes could not be read')}
        waiting={trans.__('Reading the sizes…')}
        retry={() => void model.load()}
        trans={trans}
      />
    );
  }
  const shown = space.jobs.slice(0, MOST_ROWS);
  const removable = space.jobs.filter(job => job.removable);
  return (
    <div className="jp-t9k-RunsView">
      <div className="jp-t9k-Runs-toolbar">
        <h2 tabIndex={-1}>
          {trans._n(
            'Records of %1 job: %2',
            'Records of %1 jobs: %2',
            space.jobs.length,
            formatBytes(space.size)
          )}
        </h2>
        <span className="jp-t9k-secondary">
          {space.limit === null
            ? trans.__('There is no limit.')
            : trans.__(
                'Above %1 the jobs that ended first lose their records.',
                formatBytes(space.limit)
              )}
        </span>
        <span className="jp-t9k-Runs-space" />
        <LinkButton
          onClick={() =>
            model.select(removable, selected.length < removable.length)
          }
        >
          {selected.length < removable.length
            ? trans.__('Select all finished jobs')
            : trans.__('Clear selection')}
        </LinkButton>
        <ReasonButton
          problem={
            isRemoving
              ? trans.__('Records are being removed…')
              : selected.length === 0
                ? trans.__('Select jobs first.')
                : null
          }
          onClick={clear}
        >
          {selected.length > 0
            ? trans.__('Remove %1…', formatBytes(sizeOf(selected)))
            : trans.__('Remove…')}
        </ReasonButton>
        <Button onClick={() => void model.load()}>{trans.__('Refresh')}</Button>
      </div>
      <div
        className="jp-t9k-Space-scroll"
        tabIndex={0}
        role="group"
        aria-label={trans.__('Sizes of the records')}
      >
        <table className="jp-t9k-Table">
          <thead>
            <tr>
              <th scope="col">{trans.__('Name')}</th>
              <th scope="col">{trans.__('Ended')}</th>
              {[
                trans.__('Total'),
                trans.__('Logs'),
                trans.__('Samples'),
                trans.__('Stacks'),
                trans.__('Record')
              ].map(label => (
                <th key={label} scope="col" className="jp-t9k-Table-number">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map(job => (
              <Row
                key={job.id}
                {...props}
                job={job}
                isSelected={selected.includes(job)}
              />
            ))}
          </tbody>
        </table>
        {shown.length < space.jobs.length && (
          <p className="jp-t9k-secondary">
            {trans.__('The table shows the largest %1.', shown.length)}
          </p>
        )}
      </div>
    </div>
  );
}

function Row({
  job,
  isSelected,
  model,
  open,
  trans
}: ISpaceViewProps & {
  job: KeptJob;
  isSelected: boolean;
}): React.JSX.Element {
  const { sizes } = job;
  return (
    <tr>
      <td>
        <label
          title={
            job.removable
              ? undefined
              : trans.__(
                  'The record stays while the job is active or in the cluster.'
                )
          }
        >
          <input
            type="checkbox"
            checked={isSelected}
            disabled={!job.removable}
            aria-label={trans.__('Select %1', job.name)}
            onChange={({ target }) => model.select([job], target.checked)}
          />
        </label>{' '}
        <LinkButton onClick={() => open(job.id)}>{job.name}</LinkButton>
        {job.deleted && (
          <span className="jp-t9k-Runs-tag">{trans.__('deleted')}</span>
        )}
      </td>
      <td>{timeText(job.ended_at, trans)}</td>
      {[job.size, sizes.logs, sizes.samples, sizes.stacks, sizes.record].map(
        (size, index) => (
          <td key={index} className="jp-t9k-Table-number">
            {formatBytes(size)}
          </td>
        )
      )}
    </tr>
  );
}
