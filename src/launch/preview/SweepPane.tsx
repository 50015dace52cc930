/** Preview of a sweep: the table of its jobs, and the command of the selected one. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { SweepJob } from '../../api/types';
import { LaunchModel } from '../model/launch';
import { useLaunch, useModel } from '../parts/context';
import { CommandText, CopyButton, StalePreview } from './CommandPane';

/** The jobs that the form will create. The user can leave jobs out, and select the one whose command is shown. */
export function SweepPane(): React.JSX.Element {
  const { trans } = useLaunch();
  const jobs = useModel(({ sweepJobs }) => sweepJobs.shown?.jobs.length ?? 0);
  const left = useModel(({ sweep }) => sweep.leftOut.length);
  const failure = useModel(({ sweepJobs }) => sweepJobs.failure?.message);
  return (
    <section className="jp-t9k-Launch-command" aria-label={trans.__('Preview')}>
      <div className="jp-t9k-Launch-commandHead">
        <h3>
          {trans._n('%1 job', '%1 jobs', jobs - left)}{' '}
          <span className="jp-t9k-caption">
            {left > 0 ? trans.__('%1 left out', left) : ''}
          </span>
        </h3>
      </div>
      {failure && (
        <div className="jp-t9k-Launch-stale" role="status">
          {trans.__('The jobs may be out of date.')} {failure}
        </div>
      )}
      {jobs > 0 && <SweepTable />}
      {jobs > 0 && <SelectedJob />}
    </section>
  );
}

/** Table of the jobs with their own values. */
function SweepTable(): React.JSX.Element {
  const { model, trans, prefix } = useLaunch();
  const shown = useModel(({ sweepJobs }) => sweepJobs.shown);
  const selected = useModel(({ sweepJobs }) => sweepJobs.selected?.number);
  const leftOut = useModel(({ sweep }) => sweep.leftOut);
  const [isLocked, isFrozen] = useModel(now => [now.isLocked, now.isFrozen]);
  const jobs = shown?.jobs ?? [];
  const fields = shown?.fields ?? [];
  const numbers = jobs.map(job => job.number);
  const all = React.useRef<HTMLInputElement>(null);
  React.useEffect(() => {
    if (all.current) {
      all.current.indeterminate =
        leftOut.length > 0 && leftOut.length < numbers.length;
    }
  });
  const leave = (next: readonly number[]): void =>
    model.setSweep({ leftOut: next }, '/sweep/left_out');
  const disabled = isLocked || isFrozen;
  return (
    <div className="jp-t9k-Launch-sweep">
      <table aria-label={trans.__('Jobs of the sweep')}>
        <thead>
          <tr>
            <th scope="col">
              <input
                ref={all}
                type="checkbox"
                aria-label={trans.__('Create all jobs')}
                data-field="/sweep/left_out"
                disabled={disabled}
                checked={leftOut.length === 0}
                onChange={event => leave(event.target.checked ? [] : numbers)}
              />
            </th>
            <th scope="col">{trans.__('Name')}</th>
            {fields.map(field => (
              <th key={field} scope="col">
                <code>{field}</code>
              </th>
            ))}
            <th scope="col">{trans._p('column', 'Start')}</th>
          </tr>
        </thead>
        <tbody>
          {jobs.map(job => {
            const isOut = leftOut.includes(job.number);
            return (
              <tr
                key={job.number}
                data-selected={job.number === selected || undefined}
                data-left={isOut || undefined}
                onClick={() => model.sweepJobs.select(job.number)}
              >
                <td>
                  <input
                    type="checkbox"
                    aria-label={trans.__('Create %1', job.name)}
                    disabled={disabled}
                    checked={!isOut}
                    onClick={event => event.stopPropagation()}
                    onChange={() =>
                      leave(
                        isOut
                          ? leftOut.filter(number => number !== job.number)
                          : [...leftOut, job.number]
                      )
                    }
                  />
                </td>
                <th scope="row">
                  <button
                    type="button"
                    aria-pressed={job.number === selected}
                    aria-controls={`${prefix}sweepJob`}
                    onClick={() => model.sweepJobs.select(job.number)}
                  >
                    {job.name}
                  </button>
                </th>
                {fields.map(field => (
                  <td key={field}>
                    <code>{job.values[field] ?? ''}</code>
                  </td>
                ))}
                <td className="jp-t9k-caption">
                  {startText(job, isOut, trans)}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function startText(
  job: SweepJob,
  isOut: boolean,
  trans: TranslationBundle
): string {
  if (isOut) {
    return trans.__('left out');
  }
  return job.starts_first ? trans.__('starts first') : '';
}

/** Command or manifest of the selected job. Lines that differ from the other jobs' are marked. */
function SelectedJob(): React.JSX.Element {
  const { trans, prefix } = useLaunch();
  const name = useModel(({ sweepJobs }) => sweepJobs.selected?.name ?? '');
  const text = useModel(
    ({ preview: { shown } }) => shown?.command || (shown?.manifest ?? '')
  );
  const own = useModel(model => [...ownLines(text, model)]);
  const id = `${prefix}sweepJob`;
  return (
    <div
      id={id}
      className="jp-t9k-Launch-sweepJob"
      role="group"
      aria-label={name}
    >
      <div className="jp-t9k-Launch-commandHead">
        <h3>
          {name}{' '}
          <span className="jp-t9k-caption">
            {trans.__('its own lines are marked')}
          </span>
        </h3>
        <CopyButton text={text} />
      </div>
      <StalePreview />
      <CommandText command={text} instead="" edited={new Set(own)} />
    </div>
  );
}

/** Return the numbers, from 0, of the lines that contain the selected job's name or one of its values. */
function ownLines(text: string, { sweepJobs }: LaunchModel): number[] {
  const { shown, selected } = sweepJobs;
  if (selected === null) {
    return [];
  }
  const words = [selected.name, ...(shown?.fields ?? [])];
  return text
    .split('\n')
    .flatMap((line, index) =>
      words.some(word => line.split(/[\s='",/]+/).includes(word)) ? [index] : []
    );
}
