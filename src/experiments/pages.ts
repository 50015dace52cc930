/** Pages of the experiments; loaded when the first one is opened. */
import { Widget } from '@lumino/widgets';
import { CreatePage, IExperimentsLab } from './host';
import { IPageAddress } from '../shell/pageTabs';

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
 * @param address - The page: `runs`, or `run`, `comparison` or `artifact` with ids.
 * @param lab - The parts of the lab that the page uses.
 */
export async function createPage(
  address: IPageAddress,
  lab: Omit<IExperimentsLab, 'hasPage'>
): Promise<Widget> {
  if (!hasPage(address.page)) {
    throw new Error(lab.trans.__('There is no page “%1”.', address.page));
  }
  const create = await LOADERS[address.page]();
  return create(address, { ...lab, hasPage });
}
