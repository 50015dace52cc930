/** Section of the overview: what differs from the job that this one was cloned from. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Job } from '../../api/types';
import { LinkButton } from '../../ui/Buttons';
import { changesOf } from './model';

/** Maximum number of rows. */
const MOST_ROWS = 30;

/** Props of `ComparedWith`. */
interface IComparedWithProps {
  job: Job;
  /** Read another job. */
  readJob(id: string): Promise<Job>;
  /** Show the comparison of both jobs in a tab. */
  compare(ids: string[]): void;
  trans: TranslationBundle;
}

/** Shows the differences; nothing if the job is no clone, or its original was removed. */
export function ComparedWith(
  props: IComparedWithProps
): React.JSX.Element | null {
  const { job, readJob, trans } = props;
  const { rerun_of } = job;
  const [original, setOriginal] = React.useState<Job | null>(null);
  React.useEffect(() => {
    let current = true;
    if (rerun_of) {
      readJob(rerun_of).then(
        found => current && setOriginal(found),
        () => current && setOriginal(null) // it was removed
      );
    }
    return () => {
      current = false;
    };
  }, [rerun_of, readJob]);
  if (!original) {
    return null;
  }
  const changes = changesOf(original, job, trans);
  const name = original.display_name ?? original.name;
  const none = <span className="jp-t9k-secondary">{trans.__('none')}</span>;
  return (
    <section className="jp-t9k-Section">
      <h3>
        {trans.__('Compared with %1', name)}
        <LinkButton onClick={() => props.compare([original.id, job.id])}>
          {trans.__('Compare')}
        </LinkButton>
      </h3>
      {changes.length === 0 ? (
        <p className="jp-t9k-secondary">
          {trans.__('The same arguments and fields.')}
        </p>
      ) : (
        <table className="jp-t9k-Table jp-t9k-Changes">
          <thead>
            <tr>
              <th>{trans.__('Field')}</th>
              <th>{trans.__('Before')}</th>
              <th>{trans.__('Now')}</th>
            </tr>
          </thead>
          <tbody>
            {changes.slice(0, MOST_ROWS).map(change => (
              <tr key={change.name}>
                <td>
                  {change.isCode ? <code>{change.name}</code> : change.name}
                </td>
                <td className="jp-t9k-secondary">{change.before ?? none}</td>
                <td>
                  {change.now === null ? none : <strong>{change.now}</strong>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {changes.length > MOST_ROWS && (
        <p className="jp-t9k-secondary">
          {trans._n(
            'and %1 more field',
            'and %1 more fields',
            changes.length - MOST_ROWS
          )}
        </p>
      )}
    </section>
  );
}
