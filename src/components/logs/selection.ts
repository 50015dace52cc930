/** Selecting in a log of which only the rows in view exist. */

const ROW = '.jp-t9k-LogRow';

/** Ordinals of the first and last row that the page's selection touches. */
export function selectedRows(root: HTMLElement): [number, number] | null {
  const selection = document.getSelection();
  if (!selection || selection.isCollapsed) {
    return null;
  }
  const ordinals = [selection.anchorNode, selection.focusNode].map(node =>
    root.contains(node) ? ordinalOf(node) : null
  );
  const known = ordinals.filter(ordinal => ordinal !== null) as number[];
  return known.length ? [Math.min(...known), Math.max(...known)] : null;
}

/** The selected text, without ranks and, unless wanted, without times. */
export function selectedText(root: HTMLElement, withTimes: boolean): string {
  const selection = document.getSelection();
  if (!selection || selection.rangeCount === 0) {
    return '';
  }
  const range = selection.getRangeAt(0);
  const lines: string[] = [];
  for (const row of root.querySelectorAll(ROW)) {
    const text = row.querySelector(`${ROW}-text`);
    if (text && range.intersectsNode(row)) {
      const part = document.createRange();
      part.selectNodeContents(text);
      if (range.compareBoundaryPoints(Range.START_TO_START, part) > 0) {
        part.setStart(range.startContainer, range.startOffset);
      }
      if (range.compareBoundaryPoints(Range.END_TO_END, part) < 0) {
        part.setEnd(range.endContainer, range.endOffset);
      }
      const before = withTimes ? labels(row) : '';
      lines.push(before + part.toString());
    }
  }
  return lines.join('\n');
}

function labels(row: Element): string {
  return ['gutter', 'time']
    .map(part => row.querySelector(`${ROW}-${part}`)?.textContent)
    .filter(Boolean)
    .map(text => `${text} `)
    .join('');
}

function ordinalOf(node: Node | null): number | null {
  const element = node instanceof Element ? node : node?.parentElement;
  const ordinal = element?.closest(ROW)?.getAttribute('data-ordinal');
  return ordinal ? Number(ordinal) : null;
}
