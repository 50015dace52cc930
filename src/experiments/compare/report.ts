/** A comparison as Markdown and as rows of a CSV file. */
import { formatParameter, formatScalar, formatValue } from '../charts/numbers';
import { RunRow } from '../../api/types';
import { Scalar } from '../types';
import { IDifference } from './differences';

/** A part of the comparison's table. */
export interface ISection {
  title: string;
  rows: readonly IDifference[];
}

/** A section of the table on the page. */
export interface ITitledSection extends ISection {
  key: string;
  /** Summary of the section: “6 of 21 differ”. */
  caption: string;
}

/** A compared run or job, as a report describes it. */
export type ISubject = Pick<RunRow, 'id' | 'sentence' | 'path' | 'note'>;

/** Names of a report in the user's language. */
export interface IReportNames {
  title: string;
  /** Head of the column of names. */
  name: string;
  best: string;
}

/**
 * Return a comparison as Markdown: a table for each section, with the best values in bold.
 *
 * @param labels - Names of the runs.
 * @param runs - The runs.
 * @param sections - Parts of the table.
 * @param names - Names in the user's language.
 */
export function markdownOf(
  labels: readonly string[],
  runs: readonly ISubject[],
  sections: readonly ISection[],
  names: IReportNames
): string {
  const lines = [`# ${escape(names.title)}`, ''];
  runs.forEach((run, index) => {
    const facts = [
      run.sentence,
      run.path && `\`${run.path.replace(/`/g, "'")}\``,
      run.note
    ];
    const text = facts
      .filter(Boolean)
      .map(fact =>
        String(fact).startsWith('`') ? String(fact) : escape(String(fact))
      );
    lines.push(`- **${escape(labels[index])}**: ${text.join(' · ')}`);
  });
  for (const { title, rows } of sections.filter(part => part.rows.length > 0)) {
    lines.push('', `## ${escape(title)}`, '');
    lines.push(row([names.name, ...labels]));
    lines.push(`| --- |${' ---: |'.repeat(labels.length)}`);
    for (const difference of rows) {
      const { name, values, best } = difference;
      const cells = values.map((value, index) => {
        const text = escape(textOf(value, difference));
        return best.includes(index) ? `**${text}** (${names.best})` : text;
      });
      lines.push(`| ${[escape(name), ...cells].join(' | ')} |`);
    }
  }
  return `${lines.join('\n')}\n`;
}

/** Return a comparison as rows of a CSV file, with one column for each run. */
export function rowsOfReport(
  labels: readonly string[],
  runs: readonly ISubject[],
  sections: readonly ISection[]
): (Scalar | undefined)[][] {
  return [
    ['', ...labels],
    ['id', ...runs.map(({ id }) => id)],
    ...sections.flatMap(({ rows }) =>
      rows.map(({ name, values }) => [name, ...values])
    )
  ];
}

/** Return a value of a row as text: metrics with four digits, parameters as in the table of runs. */
export function textOf(
  value: Scalar | undefined,
  { isMetric }: Pick<IDifference, 'isMetric'>
): string {
  if (typeof value !== 'number') {
    return formatScalar(value);
  }
  return isMetric ? formatValue(value) : formatParameter(value);
}

function row(cells: readonly string[]): string {
  return `| ${cells.map(escape).join(' | ')} |`;
}

/** Escape what Markdown or HTML would interpret; a line break would end the row of a table. */
function escape(text: string): string {
  return text
    .replace(/[\\`*_{}[\]<>#|~]/g, character => `\\${character}`)
    .replace(/\s*[\r\n]+\s*/g, ' ');
}
