/** Sizes of a log's rows and text. */
import * as React from 'react';

/** Sizes that depend on the font and on the width of the widget. */
export interface ILogMetrics {
  /** Height of a row, in px. */
  row: number;
  /** Number of characters that fit into a row. */
  columns: number;
  /** Height of the view, in px; 0 while it is hidden. */
  view: number;
}

/** Text of the probe, an invisible element that is measured. */
export const PROBE = 'MMMMMMMMMM';

/**
 * Measure a log's size, now and whenever it changes.
 *
 * @param box - The element that scrolls.
 * @param probe - Element in a row that contains `PROBE`.
 */
export function useMetrics(
  box: React.RefObject<HTMLElement>,
  probe: React.RefObject<HTMLElement>
): ILogMetrics {
  const [metrics, set] = React.useState<ILogMetrics>({
    row: 18,
    columns: 120,
    view: 0
  });
  React.useLayoutEffect(() => {
    const element = box.current;
    if (!element || !probe.current) {
      return;
    }
    const measure = (): void => {
      const one = probe.current?.getBoundingClientRect();
      if (one && one.height > 0) {
        const character = one.width / PROBE.length;
        const room = element.getBoundingClientRect().right - one.left;
        set({
          row: one.height,
          columns: Math.max(20, Math.floor(room / character) - 2),
          view: element.clientHeight
        });
      }
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    observer.observe(probe.current);
    return () => observer.disconnect();
  }, [box, probe]);
  return metrics;
}
