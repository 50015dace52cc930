/** Between the page's selection and places in the text of log lines, of which only the rows in view exist. */
import { ILogPlace } from '../model/selection';

const ROW = '.jp-t9k-LogRow';
const TEXT = `${ROW}-text`;

/** The place of a node and offset, as selections have them; null outside of all rows. */
export function placeOf(
  root: HTMLElement,
  node: Node | null,
  offset: number
): ILogPlace | null {
  const element = node instanceof Element ? node : node?.parentElement;
  const row = element?.closest<HTMLElement>(ROW);
  const text = row?.querySelector(TEXT);
  if (!node || !row || !text || !root.contains(row)) {
    return null;
  }
  const ordinal = Number(row.dataset.ordinal);
  const range = document.createRange();
  range.selectNodeContents(text);
  const side = range.comparePoint(node, offset);
  if (side <= 0) {
    if (side < 0) {
      return { ordinal, column: 0 };
    }
    range.setEnd(node, offset);
  }
  return { ordinal, column: range.toString().length };
}

/** The place below a point of the view, the nearest one if that is beside the text. */
export function placeUnder(
  root: HTMLElement,
  x: number,
  y: number
): ILogPlace | null {
  const caret = caretAt(x, y);
  const place = caret && placeOf(root, caret.node, caret.offset);
  if (place) {
    return place;
  }
  const rows = [...root.querySelectorAll<HTMLElement>(ROW)];
  const row =
    rows.find(each => each.getBoundingClientRect().bottom > y) ??
    rows[rows.length - 1];
  const text = row?.querySelector(TEXT);
  if (!text) {
    return null;
  }
  const before =
    y < row.getBoundingClientRect().top ||
    x < text.getBoundingClientRect().left;
  return {
    ordinal: Number(row.dataset.ordinal),
    column: before ? 0 : (text.textContent ?? '').length
  };
}

/** Have the page select from one place to another, both in rows that exist. */
export function showSelection(
  root: HTMLElement,
  anchor: ILogPlace,
  focus: ILogPlace
): void {
  const selection = document.getSelection();
  const from = nodeAt(root, anchor);
  const to = nodeAt(root, focus);
  if (selection && from && to) {
    selection.setBaseAndExtent(from.node, from.offset, to.node, to.offset);
  }
}

/** Whether two places are the same. */
export function samePlace(a: ILogPlace | null, b: ILogPlace | null): boolean {
  return a?.ordinal === b?.ordinal && a?.column === b?.column;
}

interface ICaret {
  node: Node;
  offset: number;
}

function nodeAt(root: HTMLElement, place: ILogPlace): ICaret | null {
  const text = root.querySelector(
    `${ROW}[data-ordinal="${place.ordinal}"] > ${TEXT}`
  );
  if (!text) {
    return null;
  }
  const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  let left = place.column;
  let node: Node | null = walker.nextNode();
  while (node) {
    const length = node.textContent?.length ?? 0;
    if (left <= length) {
      return { node, offset: left };
    }
    left -= length;
    node = walker.nextNode();
  }
  return { node: text, offset: text.childNodes.length };
}

/** The standard's way is younger than the other, which Firefox does not have. */
function caretAt(x: number, y: number): ICaret | null {
  const page = document as Document & {
    caretPositionFromPoint?(
      x: number,
      y: number
    ): { offsetNode: Node; offset: number } | null;
    caretRangeFromPoint?(x: number, y: number): Range | null;
  };
  if (page.caretPositionFromPoint) {
    const caret = page.caretPositionFromPoint(x, y);
    return caret && { node: caret.offsetNode, offset: caret.offset };
  }
  const range = page.caretRangeFromPoint?.(x, y);
  return range
    ? { node: range.startContainer, offset: range.startOffset }
    : null;
}
