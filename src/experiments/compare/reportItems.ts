/** Menu entries that copy and save a comparison. */
import { TranslationBundle } from '@jupyterlab/translation';
import { IMenuItem } from '../../common/menu';
import { csvOf, fileName, saveText } from '../../common/saveFile';
import { ISection, ISubject, markdownOf, rowsOfReport } from './report';

/** A comparison of runs or jobs, as its reports describe it. */
export interface IComparison {
  title: string;
  /** Names of the runs or jobs. */
  labels: readonly string[];
  /** The runs or jobs. */
  subjects: readonly ISubject[];
  /**
   * Return the sections of the table.
   *
   * @param showEqual - True to return also rows whose values are equal.
   */
  sections(showEqual: boolean): readonly ISection[];
}

/**
 * Return the entries that copy a comparison as Markdown, and save it as Markdown or CSV.
 *
 * @param comparison - The comparison.
 * @param copy - Copies a text, and confirms it with a sentence.
 */
export function reportItems(
  comparison: IComparison,
  copy: (text: string, done: string) => void,
  trans: TranslationBundle
): IMenuItem[] {
  const { title, labels, subjects, sections } = comparison;
  const name = trans.__('comparison');
  const markdown = (): string =>
    markdownOf(labels, subjects, sections(false), {
      title,
      name: trans.__('Name'),
      best: trans.__('best')
    });
  return [
    {
      label: trans.__('Copy Report (Markdown)'),
      execute: () => copy(markdown(), trans.__('The report was copied.'))
    },
    {
      label: trans.__('Save Report (Markdown)'),
      execute: () => saveText(markdown(), fileName(name, 'md'), 'text/markdown')
    },
    {
      label: trans.__('Save Table (CSV)'),
      execute: () => {
        const rows = rowsOfReport(labels, subjects, sections(true));
        saveText(csvOf(rows), fileName(name, 'csv'), 'text/csv');
      }
    }
  ];
}
