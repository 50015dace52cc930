/** Table of a comparison: what differs between the runs. */
import { TranslationBundle } from '@jupyterlab/translation';
import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { IconButton, LinkButton } from '../../ui/Buttons';
import { Key } from '../charts/Key';
import { formatValue } from '../charts/numbers';
import { IRunLab } from '../run/pageLab';
import { StatusIcon } from '../run/StatusIcon';
import { RunRow } from '../../api/types';
import { differenceOf, IDifference } from './differences';
import { CompareModel } from './model';
import { textOf } from './report';
import { ISectionOf, sectionsOf } from './sections';

interface IDifferencesTableProps {
  model: CompareModel;
  runs: readonly RunRow[];
  /** Names that tell the runs apart. */
  labels: readonly string[];
  lab: IRunLab;
  trans: TranslationBundle;
}

/** One column for each run; only rows whose values differ, unless the user wants all. */
export function DifferencesTable(
  props: IDifferencesTableProps
): React.JSX.Element {
  const { model, runs, labels, lab, trans } = props;
  const [showEqual, setShowEqual] = React.useState(false);
  const sections = sectionsOf(runs, model.goalOf, showEqual, trans);
  const hasDifference = runs.length === 2;
  return (
    <div className="jp-t9k-Differences">
      <div
        className="jp-t9k-Differences-scroll"
        tabIndex={0}
        role="group"
        aria-label={trans.__('Differences between the runs')}
      >
        <table className="jp-t9k-Table">
          <thead>
            <tr>
              <th scope="col">
                {showEqual
                  ? trans.__('All values')
                  : trans.__('Only what differs')}
              </th>
              {runs.map((run, index) => (
                <th key={run.id} scope="col" className="jp-t9k-Table-number">
                  <span className="jp-t9k-Differences-run">
                    <StatusIcon
                      status={run.status}
                      label={run.sentence}
                      size={14}
                    />
                    <Key style={model.styleOf(run)} />
                    {runs.length > 1 && (
                      <IconButton
                        icon={closeIcon}
                        label={trans.__('Remove %1', labels[index])}
                        onClick={() =>
                          lab.openComparison(
                            model.ids.filter(id => id !== run.id)
                          )
                        }
                      />
                    )}
                  </span>
                  <LinkButton
                    title={labels[index]}
                    onClick={() => lab.openRun(run.id)}
                  >
                    <span>{labels[index]}</span>
                  </LinkButton>
                </th>
              ))}
              {hasDifference && (
                <th scope="col" className="jp-t9k-Table-number">
                  {trans.__('Difference')}
                </th>
              )}
            </tr>
          </thead>
          {sections.map(section => (
            <Section
              key={section.key}
              section={section}
              columns={runs.length + (hasDifference ? 2 : 1)}
              hasDifference={hasDifference}
              model={model}
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

interface ISectionProps {
  section: ISectionOf;
  columns: number;
  hasDifference: boolean;
  model: CompareModel;
  trans: TranslationBundle;
}

/** A section of the table, which can be folded. */
function Section(props: ISectionProps): React.JSX.Element {
  const { section, columns, trans } = props;
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
              {section.key === 'metrics' && (
                <Direction name={row.name} model={props.model} trans={trans} />
              )}
            </th>
            <Values row={row} trans={trans} />
            {props.hasDifference && (
              <td className="jp-t9k-Table-number">
                {signed(differenceOf(row.values))}
              </td>
            )}
          </tr>
        ))}
    </tbody>
  );
}

/** Says in which direction a metric improves, and turns it. */
function Direction(props: {
  name: string;
  model: CompareModel;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { name, model, trans } = props;
  const goal = model.goalOf(name);
  const label =
    goal === null
      ? trans.__('%1: it is not known which value is better. Change it.', name)
      : goal === 'min'
        ? trans.__('%1: less is better. Change it.', name)
        : trans.__('%1: more is better. Change it.', name);
  return (
    <button
      type="button"
      className="jp-t9k-LinkButton jp-t9k-Differences-goal"
      aria-label={label}
      title={label}
      onClick={() => model.turn(name)}
    >
      {goal === null ? '↕' : goal === 'min' ? '↓' : '↑'}
    </button>
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

function signed(difference: number | null): string {
  return difference === null
    ? ''
    : `${difference > 0 ? '+' : ''}${formatValue(Number(difference.toPrecision(6)))}`;
}
