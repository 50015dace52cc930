/** Access to open notebooks. */
import { CodeEditor } from '@jupyterlab/codeeditor';
import { Widget } from '@lumino/widgets';

/** A cell of an open notebook, as far as this extension uses it. */
interface ICell extends Widget {
  readonly model: { readonly id: string; readonly type: string };
  readonly editor: CodeEditor.IEditor | null;
  readonly ready: Promise<void>;
}

/** The content of a notebook's tab, as far as this extension uses it. */
interface INotebook extends Widget {
  readonly widgets: readonly ICell[];
  activeCellIndex: number;
  isSelectedOrActive(cell: ICell): boolean;
  deselectAll(): void;
  scrollToItem(index: number, align?: string): Promise<void>;
}

/** Return the notebook that a tab shows; null for another tab. */
export function notebookOf(tab: Widget | null): INotebook | null {
  const content = (tab as { content?: unknown } | null)?.content;
  return content instanceof Widget &&
    'isSelectedOrActive' in content &&
    'widgets' in content
    ? (content as INotebook)
    : null;
}

/**
 * Return the ids and numbers, from 1, of the selected code cells of a notebook; empty for another tab.
 *
 * @param tab - A tab of the main area.
 */
export function selectedCells(
  tab: Widget | null
): { id: string; number: number }[] {
  const notebook = notebookOf(tab);
  return (notebook?.widgets ?? [])
    .map((cell, index) => ({ cell, number: index + 1 }))
    .filter(
      ({ cell }) =>
        cell.model.type === 'code' && notebook?.isSelectedOrActive(cell)
    )
    .map(({ cell, number }) => ({ id: cell.model.id, number }));
}
