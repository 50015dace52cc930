/**
 * Conversion between the browser's selection and places in log lines. Only the rows near the view are in the
 * document.
 */
import { ILogPlace } from '../model/selection';

const ROW = '.jp-t9k-LogRow';
const TEXT = `${ROW}-text`;

/**
 * Return the place of a node and offset of the browser's selection; null if the node is in no row.
 *
 * @param root - Element that contains the rows.
 * @param node - Node of the selection.
 * @param offset - Offset in the node.
 */
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

/**
 * Return the place under a point of the screen, or the nearest place if there is no text under the point.
 *
 * @param root - Element that contains the rows.
 * @param x - Horizontal position in the viewport, in px.
 * @param y - Vertical position in the viewport, in px.
 */
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

/**
 * Set the browser's selection.
 *
 * @param root - Element that contains the rows.
 * @param anchor - Start of the selection, in a row of the document.
 * @param focus - End that the user moves, in a row of the document.
 */
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

/** Return true if two places are equal. */
export function samePlace(a: ILogPlace | null, b: ILogPlace | null): boolean {
  return a?.ordinal === b?.ordinal && a?.column === b?.column;
}

/** Position in the document. */
interface ICaret {
  node: Node;
  offset: number;
}

/** Return the position of a place; null if its row isn't in the document. */
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

/**
 * Return the caret under a point of the screen. Older browsers lack the standard `caretPositionFromPoint`;
 * Firefox lacks `caretRangeFromPoint`.
 */
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
