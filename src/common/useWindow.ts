import * as React from 'react';
import { offsetsOf, windowOf } from './windowing';
import { useSame } from './hooks';

/** The part of a long list that is in the DOM. */
export interface IWindow {
  /** For the scrolling element. */
  ref: React.RefObject<HTMLDivElement>;
  /** First and last (exclusive) row of the part. */
  range: [number, number];
  /** Upper edges of all rows, and the lower edge of the last, in px. */
  offsets: number[];
  onScroll: () => void;
  /** Scroll no further than needed for a row to be seen. */
  reveal: (index: number) => void;
}

/**
 * Window a list whose rows have known heights.
 *
 * Rows that come or go above the visible part do not move it.
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
    // To ask where it is scrolled to is to wait for the layout.
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

  return {
    ref,
    range: windowOf(offsets, view.top, view.height),
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

/** What is in a hidden tab has no height, and is not where it was scrolled to. */
function isSeen({ clientHeight }: HTMLElement): boolean {
  return clientHeight > 0;
}
