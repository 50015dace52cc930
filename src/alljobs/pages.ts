/** Pages about all jobs; loaded when the first one is opened. */
import { Widget } from '@lumino/widgets';
import { IAllJobsLab } from './host';

/** A page, as arguments of the command `CommandIDs.openAllJobs`. */
export interface IAllJobsPlace {
  /** `table`, `compare` or `space`. */
  page: string;
  /** Ids of jobs; empty for the table. */
  ids: string[];
}

/** Create the content of a page. The widget's title becomes the title of the tab. */
export async function createPage(
  place: IAllJobsPlace,
  lab: IAllJobsLab
): Promise<Widget> {
  switch (place.page) {
    case 'table':
      return (await import('./page')).createTable(lab);
    case 'compare':
      return (await import('./compare/page')).createComparison(place.ids, lab);
    case 'space':
      return (await import('./space/page')).createSpace(lab);
    default:
      throw new Error(lab.trans.__('There is no page “%1”.', place.page));
  }
}
