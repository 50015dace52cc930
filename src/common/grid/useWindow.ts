/** React hook that keeps only the visible rows of a long list in the document. */

import * as React from 'react';
import { offsetsOf, OVERSCAN, windowOf } from './windowing';
import { useSame } from '../hooks';

/** Number of rows above and below the visible rows that are drawn at once when all visible rows are new. */
const OVERSCAN_IN_JUMPS = 2;

/** Time without a jump after which the other rows around the visible ones are drawn, in ms. */
const REST = 100;

/** State of a windowed list, and functions to scroll it. */
export interface IWindow {
  /** Reference for the scrolling element. */
  ref: React.RefObject<HTMLDivElement>;
  /** Indices of the first row and, exclusively, of the last row in the document. */
  range: [number, number];
  /** Upper edges of all rows, then the lower edge of the last row, in px. */
  offsets: number[];
  /** Handler of the element's scroll event. */
  onScroll: () => void;
  /** Scroll a row into view, by the smallest distance. */
  reveal: (index: number) => void;
}

/**
 * Window a list whose row heights are known.
 *
 * The visible rows keep their position on the screen when rows above them are added or removed.
 *
 * @param rows - Unique keys of the rows.
 * @param rowHeights - Heights of the rows in px.
 */
export function useWindow(
  rows: readonly string[],
  rowHeights: readonly number[]
): IWindow {
  const [keys, heights] = [useSame(rows), useSame(rowHeights)];
  const ref = React.useRef<HTMLDivElement>(null);
  const anchor = React.useRef<{ key: string; y: number } | null>(null);
  const [view, setView] = React.useState({ top: 0, height: 2000 });
  const offsets = React.useMemo(() => offsetsOf(heights), [heights]);
  const placed = React.useRef({ keys, offsets, view });
  const drawn = React.useRef<ReadonlySet<string>>(new Set());
  const [, setRests] = React.useState(0);

  const read = (): void => {
    const element = ref.current;
    if (element && isSeen(element)) {
      const { scrollTop: top, clientHeight: height } = element;
      setView(known =>
        known.top === top && known.height === height ? known : { top, height }
      );
    }
  };

  React.useLayoutEffect(() => {
    const element = ref.current;
    if (!element) {
      return;
    }
    const observer = new ResizeObserver(read);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  React.useLayoutEffect(() => {
    const { current: last } = placed;
    // Return before reading `scrollTop`, which forces the browser to compute the layout.
    if (
      anchor.current &&
      last.keys === keys &&
      last.offsets === offsets &&
      last.view === view
    ) {
      return;
    }
    const element = ref.current;
    if (!element || !isSeen(element)) {
      return;
    }
    placed.current = { keys, offsets, view };
    const { current } = anchor;
    if (current && element.scrollTop > 0) {
      const index = keys.indexOf(current.key);
      const y = offsets[index] - element.scrollTop;
      if (index >= 0 && y !== current.y) {
        element.scrollTop += y - current.y;
      }
    }
    const { scrollTop } = element;
    const first = offsets.findIndex(offset => offset >= scrollTop);
    anchor.current = keys[first]
      ? { key: keys[first], y: offsets[first] - scrollTop }
      : null;
  });

  // A jump and a new order replace all rows. One task then draws only the rows that are seen.
  const around = (overscan: number): [number, number] =>
    windowOf(offsets, view.top, view.height, overscan);
  const seen = around(0);
  const isJump =
    drawn.current.size > 0 && isNew(keys.slice(...seen), drawn.current);
  const range = around(isJump ? OVERSCAN_IN_JUMPS : OVERSCAN);

  React.useLayoutEffect(() => {
    drawn.current = new Set(keys.slice(...range));
  });
  React.useEffect(() => {
    if (isJump) {
      const timer = window.setTimeout(() => setRests(count => count + 1), REST);
      return () => window.clearTimeout(timer);
    }
    return undefined;
  });

  return {
    ref,
    range,
    offsets,
    onScroll: () => {
      anchor.current = null;
      read();
    },
    reveal: index => {
      const element = ref.current;
      if (element) {
        const [top, bottom] = [offsets[index], offsets[index + 1]];
        if (top < element.scrollTop) {
          element.scrollTop = top;
        } else if (bottom > element.scrollTop + element.clientHeight) {
          element.scrollTop = bottom - element.clientHeight;
        }
      }
    }
  };
}

/** Return true if few of some rows are in the document. */
function isNew(keys: readonly string[], drawn: ReadonlySet<string>): boolean {
  return 4 * keys.filter(key => drawn.has(key)).length < keys.length;
}

/** Return true if an element is in a visible tab. In a hidden tab, its height and its scroll position are 0. */
function isSeen({ clientHeight }: HTMLElement): boolean {
  return clientHeight > 0;
}
