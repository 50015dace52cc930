/** Computation of the rows of a long list that have to be in the document. */

/** Number of rows above and below the visible rows that are kept in the document. */
export const OVERSCAN = 10;

/** Return the upper edges of all rows, then the lower edge of the last row. */
export function offsetsOf(heights: readonly number[]): number[] {
  const offsets = [0];
  for (const height of heights) {
    offsets.push(offsets[offsets.length - 1] + height);
  }
  return offsets;
}

/**
 * Return the indices of the first row and, exclusively, of the last row that have to be in the document.
 *
 * @param offsets - See `offsetsOf`.
 * @param top - Scroll position in px.
 * @param height - Height of the visible part in px.
 * @param overscan - Number of rows above and below the visible rows.
 */
export function windowOf(
  offsets: readonly number[],
  top: number,
  height: number,
  overscan = OVERSCAN
): [number, number] {
  const first = Math.max(0, indexAt(offsets, top) - overscan);
  const last = indexAt(offsets, top + height) + 1 + overscan;
  return [first, Math.min(offsets.length - 1, last)];
}

/**
 * Return the part of the wanted rows that is drawn for one frame. It has at most `limit` new rows, and the visible rows come
 * first: from the upper one, or from the lower one if only that one is in the document already.
 *
 * @param wanted - Indices of the first wanted row and, exclusively, of the last one.
 * @param seen - The same of the visible rows.
 * @param isDrawn - Returns true if a row is in the document already.
 * @param limit - Greatest number of new rows.
 */
export function sliceOf(
  wanted: readonly [number, number],
  seen: readonly [number, number],
  isDrawn: (index: number) => boolean,
  limit: number
): [number, number] {
  const [top, end] = [
    Math.max(wanted[0], seen[0]),
    Math.min(wanted[1], seen[1])
  ];
  let left = limit;
  const isUpwards = end > top && !isDrawn(top) && isDrawn(end - 1);
  let [first, last] = isUpwards ? [end, end] : [top, top];
  const takes = (index: number): boolean => isDrawn(index) || left-- > 0;
  while (isUpwards && first > top && takes(first - 1)) {
    first--;
  }
  for (const to of [end, wanted[1]]) {
    while (last < to && takes(last)) {
      last++;
    }
  }
  while (first > wanted[0] && takes(first - 1)) {
    first--;
  }
  return [first, last];
}

/** Return the index of the row at a vertical position, by bisection. */
function indexAt(offsets: readonly number[], y: number): number {
  let low = 0;
  let high = offsets.length - 1;
  while (low < high - 1) {
    const middle = (low + high) >> 1;
    if (offsets[middle] <= y) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}
