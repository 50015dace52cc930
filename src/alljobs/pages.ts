/** Pages about all jobs; loaded when the first one is opened. */
import { Widget } from '@lumino/widgets';
import { IPageAddress } from '../shell/pageTabs';
import { IAllJobsLab } from './host';

/**
 * Create the content of a page. The widget's title becomes the title of the tab.
 *
 * @param address - The page: `table`, or `compare` with the ids of jobs, `sweep` with the id of a
 *   sweep, or `space`.
 */
export async function createPage(
  address: IPageAddress,
  lab: IAllJobsLab
): Promise<Widget> {
  switch (address.page) {
    case 'table':
      return (await import('./page')).createTable(lab);
    case 'compare':
      return (await import('./compare/page')).createComparison(
        address.ids,
        lab
      );
    case 'sweep': {
      const { ResultsWidget } = await import('../job/sweep/widget');
      const { app, jobs, trans } = lab;
      return new ResultsWidget(jobs, address.ids[0], app.commands, trans);
    }
    case 'space':
      return (await import('./space/page')).createSpace(lab);
    default:
      throw new Error(lab.trans.__('There is no page “%1”.', address.page));
  }
}
