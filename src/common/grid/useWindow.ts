/** React hook that keeps only the visible rows of a long list in the document. */

import * as React from 'react';
import { offsetsOf, OVERSCAN, sliceOf, windowOf } from './windowing';
import { useSame } from '../hooks';

/** Number of rows that are drawn before the height of the visible part is known. */
const FIRST = 2;

/** Height of the visible part in px if it cannot be measured, because the list is in a hidden tab. */
const UNKNOWN_HEIGHT = 2000;

/** Greatest number of new rows that are drawn for a frame. A row of the tables of runs and jobs takes 0.5 to 1.5 ms. */
const SLICE = 6;

/** Visible part of a list. */
interface IView {
  /** Scroll position in px. */
  top: number;
  /** Height in px. */
  height: number;
  /** False if the height is assumed. */
  isMeasured: boolean;
}

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
  const [view, setView] = React.useState<IView | null>(null);
  const offsets = React.useMemo(() => offsetsOf(heights), [heights]);
  const placed = React.useRef({ keys, offsets, view });
  const drawn = React.useRef<ReadonlySet<string>>(new Set());
  // True until the next frame once a slice is drawn: a change of the rows may render the list again before that.
  const isFull = React.useRef(false);
  const [, setSlices] = React.useState(0);

  const read = (): void => {
    const element = ref.current;
    if (element && isSeen(element)) {
      const { scrollTop: top, clientHeight: height } = element;
      setView(known =>
        known?.isMeasured && known.top === top && known.height === height
          ? known
          : { top, height, isMeasured: true }
      );
    } else {
      setView(
        known => known ?? { top: 0, height: UNKNOWN_HEIGHT, isMeasured: false }
      );
    }
  };

  React.useLayoutEffect(() => {
    const element = ref.current;
    if (!element) {
      return;
    }
    read();
    const observer = new ResizeObserver(read);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  React.useLayoutEffect(() => {
    const { current: last } = placed;
    // Return before reading sizes and positions, which forces the browser to compute the layout.
    if (
      anchor.current &&
      last.keys === keys &&
      last.offsets === offsets &&
      last.view === view
    ) {
      return;
    }
    // At the top, no row above can move the list.
    if (view?.isMeasured && view.top === 0) {
      placed.current = { keys, offsets, view };
      anchor.current = keys.length > 0 ? { key: keys[0], y: 0 } : null;
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

  // A jump and a new order replace all rows, which are drawn in several frames.
  const around = (overscan: number): [number, number] =>
    view
      ? windowOf(offsets, view.top, view.height, overscan)
      : [0, Math.min(FIRST, keys.length)];
  const wanted = around(OVERSCAN);
  const range = view?.isMeasured
    ? sliceOf(
        wanted,
        around(0),
        row => drawn.current.has(keys[row]),
        isFull.current ? 0 : SLICE
      )
    : wanted;
  const isPart = range[0] > wanted[0] || range[1] < wanted[1];

  React.useLayoutEffect(() => {
    const current = keys.slice(...range);
    if (view?.isMeasured && !current.every(key => drawn.current.has(key))) {
      isFull.current = true;
    }
    drawn.current = new Set(current);
    if (!isPart && !isFull.current) {
      return undefined;
    }
    const frame = requestAnimationFrame(() => {
      isFull.current = false;
      if (isPart) {
        setSlices(count => count + 1);
      }
    });
    return () => cancelAnimationFrame(frame);
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

/** Return true if an element is in a visible tab. In a hidden tab, its height and its scroll position are 0. */
function isSeen({ clientHeight }: HTMLElement): boolean {
  return clientHeight > 0;
}
