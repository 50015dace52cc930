/** Which part of a long list is in the DOM. */

/** Rows beyond the visible ones that are in the DOM as well. */
const OVERSCAN = 10;

/** Upper edges of all rows, and the lower edge of the last. */
export function offsetsOf(heights: readonly number[]): number[] {
  const offsets = [0];
  for (const height of heights) {
    offsets.push(offsets[offsets.length - 1] + height);
  }
  return offsets;
}

/** First and last (exclusive) row that has to be in the DOM. */
export function windowOf(
  offsets: readonly number[],
  top: number,
  height: number
): [number, number] {
  const first = Math.max(0, indexAt(offsets, top) - OVERSCAN);
  const last = indexAt(offsets, top + height) + 1 + OVERSCAN;
  return [first, Math.min(offsets.length - 1, last)];
}

/** The row at a height, by bisection. */
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
