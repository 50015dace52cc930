import * as React from 'react';

/** Sizes that the fonts and the widget's width decide. */
export interface ILogMetrics {
  /** Height of a row, in px. */
  row: number;
  /** Characters that fit into a row. */
  columns: number;
  /** Height of the part that is in view, in px; 0 while it is hidden. */
  view: number;
}

/** Characters of the probe. */
export const PROBE = 'MMMMMMMMMM';

/** Measure a log's box and the probe in it, now and when its size changes. */
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
