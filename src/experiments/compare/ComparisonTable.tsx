/** Table of the differences between compared runs or jobs: a column for each, sections that fold. */
import { TranslationBundle } from '@jupyterlab/translation';
import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { IconButton, LinkButton } from '../../ui/Buttons';
import { Key } from '../charts/Key';
import { IDifference } from './differences';
import { ITitledSection, textOf } from './report';

/** A run or job that is compared. */
export interface IComparedColumn {
  id: string;
  name: string;
  /** Icon of the state. */
  icon: React.JSX.Element;
  /** Number of the colour and dash of the curves; null if there are none. */
  style: number | null;
  open(): void;
  /** Leave it out of the comparison; null if that is impossible. */
  remove: (() => void) | null;
}

interface IRowProps {
  /** Title and cells of a further column; null if there is none. */
  further: { title: string; cell(row: IDifference): string } | null;
  /** Return a control beside the name of a row. */
  besideName?(section: ITitledSection, row: IDifference): React.ReactNode;
  trans: TranslationBundle;
}

interface IComparisonTableProps extends IRowProps {
  /** Name of the table for screen readers. */
  label: string;
  columns: readonly IComparedColumn[];
  /** Return the sections with the rows that differ, or with all rows. */
  sectionsOf(showEqual: boolean): readonly ITitledSection[];
}

/** The table; it has only the rows whose values differ, unless the user wants all. */
export function ComparisonTable(
  props: IComparisonTableProps
): React.JSX.Element {
  const { label, columns, sectionsOf, further, trans } = props;
  const [showEqual, setShowEqual] = React.useState(false);
  return (
    <div className="jp-t9k-Differences">
      <div
        className="jp-t9k-Differences-scroll"
        tabIndex={0}
        role="group"
        aria-label={label}
      >
        <table className="jp-t9k-Table">
          <thead>
            <tr>
              <th scope="col">
                {showEqual
                  ? trans.__('All values')
                  : trans.__('Only what differs')}
              </th>
              {columns.map(column => (
                <Head key={column.id} column={column} trans={trans} />
              ))}
              {further && (
                <th scope="col" className="jp-t9k-Table-number">
                  {further.title}
                </th>
              )}
            </tr>
          </thead>
          {sectionsOf(showEqual).map(section => (
            <Section
              {...props}
              key={section.key}
              section={section}
              width={columns.length + (further ? 2 : 1)}
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
        {trans.__('Show equal values too')}
      </label>
    </div>
  );
}

/** Head of the column of a run or job: state, key of its curves, name. */
function Head(props: {
  column: IComparedColumn;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { name, icon, style, open, remove } = props.column;
  return (
    <th scope="col" className="jp-t9k-Table-number">
      <span className="jp-t9k-Differences-run">
        {icon}
        {style !== null && <Key style={style} />}
        {remove && (
          <IconButton
            icon={closeIcon}
            label={props.trans.__('Remove %1', name)}
            onClick={remove}
          />
        )}
      </span>
      <LinkButton title={name} onClick={open}>
        <span>{name}</span>
      </LinkButton>
    </th>
  );
}

interface ISectionProps extends IRowProps {
  section: ITitledSection;
  /** Number of columns. */
  width: number;
}

/** A section of the table, which can be folded. */
function Section(props: ISectionProps): React.JSX.Element {
  const { section, width, further, besideName, trans } = props;
  const [isOpen, setIsOpen] = React.useState(true);
  return (
    <tbody>
      <tr className="jp-t9k-Differences-section">
        <th scope="colgroup" colSpan={width}>
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
              {besideName?.(section, row)}
            </th>
            <Values row={row} trans={trans} />
            {further && (
              <td className="jp-t9k-Table-number">{further.cell(row)}</td>
            )}
          </tr>
        ))}
    </tbody>
  );
}

/** Cells with the values of a row; the best values are bold and marked as “best”. */
function Values(props: {
  row: IDifference;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { row, trans } = props;
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
              <strong>{textOf(value, row)}</strong>
            </>
          ) : (
            textOf(value, row)
          )}
        </td>
      ))}
    </>
  );
}
