/** Pages of the experiments; loaded when the first one is opened. */
import { Widget } from '@lumino/widgets';
import { CreatePage, IExperimentsLab } from './host';
import { IExperimentPlace } from './open';

/** Loads the function that creates a page, by the kind of the page. A new kind is added here. */
const LOADERS: Record<string, () => Promise<CreatePage>> = {
  runs: async () => (await import('./table/page')).create,
  run: async () => (await import('./run/page')).createRunPage,
  artifact: async () => (await import('./artifact/page')).createArtifactPage,
  comparison: async () => (await import('./compare/page')).createComparisonPage
};

/** Return true if this version has a kind of page. */
export function hasPage(page: string): boolean {
  return Object.hasOwn(LOADERS, page);
}

/**
 * Create the content of a page. The widget's title becomes the title of the tab.
 *
 * @param place - The page.
 * @param lab - The parts of the lab that the page uses.
 */
export async function createPage(
  place: IExperimentPlace,
  lab: Omit<IExperimentsLab, 'hasPage'>
): Promise<Widget> {
  if (!hasPage(place.page)) {
    throw new Error(lab.trans.__('There is no page “%1”.', place.page));
  }
  const create = await LOADERS[place.page]();
  return create(place, { ...lab, hasPage });
}
