/** Table of a comparison of jobs: what differs between them. */
import { TranslationBundle } from '@jupyterlab/translation';
import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Key } from '../../experiments/charts/Key';
import { GoalOf, IDifference } from '../../experiments/compare/differences';
import { textOf } from '../../experiments/compare/report';
import { PhaseIcon } from '../../jobs/PhaseIcon';
import { stateOf, stateWord } from '../../jobs/phase';
import { IconButton, LinkButton } from '../../ui/Buttons';
import { ICompared, IJobSection, sectionsOf } from './sections';

interface IJobDifferencesProps {
  compared: readonly ICompared[];
  goalOf: GoalOf;
  /** Return the number of the colour and dash of a job's curves; null if it has no curves. */
  styleOf(job: ICompared): number | null;
  open(id: string): void;
  /** Leave a job out; null if there are only two. */
  remove: ((id: string) => void) | null;
  trans: TranslationBundle;
}

/** One column for each job; only rows whose values differ, unless the user wants all. */
export function JobDifferences(props: IJobDifferencesProps): React.JSX.Element {
  const { compared, goalOf, styleOf, open, remove, trans } = props;
  const [showEqual, setShowEqual] = React.useState(false);
  const sections = sectionsOf(compared, goalOf, showEqual, trans);
  return (
    <div className="jp-t9k-Differences">
      <div
        className="jp-t9k-Differences-scroll"
        tabIndex={0}
        role="group"
        aria-label={trans.__('Differences between the jobs')}
      >
        <table className="jp-t9k-Table">
          <thead>
            <tr>
              <th scope="col">
                {showEqual
                  ? trans.__('All values')
                  : trans.__('Only what differs')}
              </th>
              {compared.map(each => {
                const { job } = each;
                const style = styleOf(each);
                return (
                  <th key={job.id} scope="col" className="jp-t9k-Table-number">
                    <span className="jp-t9k-Differences-run">
                      <PhaseIcon
                        state={stateOf(job)}
                        label={stateWord(stateOf(job), trans)}
                        size={14}
                      />
                      {style !== null && <Key style={style} />}
                      {remove && (
                        <IconButton
                          icon={closeIcon}
                          label={trans.__('Remove %1', job.name)}
                          onClick={() => remove(job.id)}
                        />
                      )}
                    </span>
                    <LinkButton title={job.name} onClick={() => open(job.id)}>
                      {job.name}
                    </LinkButton>
                  </th>
                );
              })}
            </tr>
          </thead>
          {sections.map(section => (
            <Section
              key={section.key}
              section={section}
              columns={compared.length + 1}
              trans={trans}
            />
          ))}
        </table>
      </div>
      <label className="jp-t9k-Differences-all">
        <input
          type="checkbox"
          checked={showEqual}
          onChange={({ target }) => setShowEqual(target.checked)}
        />
        {trans.__('Show what is equal, too')}
      </label>
    </div>
  );
}

/** A section of the table, which can be folded. */
function Section({
  section,
  columns,
  trans
}: {
  section: IJobSection;
  columns: number;
  trans: TranslationBundle;
}): React.JSX.Element {
  const [isOpen, setIsOpen] = React.useState(true);
  return (
    <tbody>
      <tr className="jp-t9k-Differences-section">
        <th scope="colgroup" colSpan={columns}>
          <button
            type="button"
            className="jp-t9k-LinkButton"
            aria-expanded={isOpen}
            onClick={() => setIsOpen(!isOpen)}
          >
            {section.title}
          </button>{' '}
          <span className="jp-t9k-caption">{section.caption}</span>
        </th>
      </tr>
      {isOpen &&
        section.rows.map(row => (
          <tr key={row.name}>
            <th scope="row" title={row.name}>
              {row.name}
            </th>
            <Values row={row} trans={trans} />
          </tr>
        ))}
    </tbody>
  );
}

/** The values of a row; the best ones are bold and say “best”. */
function Values({
  row,
  trans
}: {
  row: IDifference;
  trans: TranslationBundle;
}): React.JSX.Element {
  return (
    <>
      {row.values.map((value, index) => (
        <td
          key={index}
          className="jp-t9k-Table-number"
          title={value === undefined ? undefined : String(value)}
        >
          {row.best.includes(index) ? (
            <>
              <small className="jp-t9k-caption">{trans.__('best')}</small>{' '}
              <strong>{textOf(value)}</strong>
            </>
          ) : (
            textOf(value)
          )}
        </td>
      ))}
    </>
  );
}
