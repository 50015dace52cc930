/** Unfolded lines of a log: all updates of a progress bar, or the whole text of a long line. */
import * as React from 'react';
import { LogLine } from '../../api/types';

/** Shortest time between two reads of a progress bar that still changes, in ms. */
const REFRESH = 1000;

/** Updates of a line, the oldest first, or `loading`. */
type Updates = readonly string[] | 'loading';

/** The unfolded lines of a log. */
export interface IUpdates {
  /** Return the updates of a line; null if the line isn't unfolded. */
  of(line: LogLine): Updates | null;
  /** Fold or unfold a line. */
  toggle(line: LogLine): void;
  /** True if a line was unfolded before. */
  readonly used: boolean;
  /** Return true if a line was unfolded before, so that its height may have changed. */
  wasOpen(line: LogLine): boolean;
  /** Read the updates again if the line has grown since the last read. */
  refresh(line: LogLine): void;
  /**
   * Heights of the unfolded lines in px, by `keyOf`. A line that grows keeps its last height until it is
   * measured again.
   */
  readonly heights: Map<string, number>;
}

/** Return the key of a line, which stays the same while the line grows. */
export function keyOf({ stream, offset }: LogLine): string {
  return `${stream}:${offset}`;
}

/**
 * Return the unfolded lines of a log.
 *
 * @param load - Reads the updates of a line.
 */
export function useUpdates(
  load: (line: LogLine) => Promise<readonly string[]>
): IUpdates {
  const [open, setOpen] = React.useState<ReadonlyMap<string, Updates>>(
    () => new Map()
  );
  const latest = React.useRef(open);
  latest.current = open;
  const [heights] = React.useState(() => new Map<string, number>());
  const [touched] = React.useState(() => new Set<string>());
  const [reads] = React.useState(() => new BarReads());
  React.useEffect(() => () => reads.end(), [reads]);
  const put = React.useCallback((key: string, value: Updates): void => {
    setOpen(before =>
      before.has(key) ? new Map(before).set(key, value) : before
    );
  }, []);
  const read = React.useCallback(
    (line: LogLine, rest: number) => {
      const key = keyOf(line);
      reads.begin(key, line, rest, () => {
        load(line).then(
          value => put(key, value),
          (error: unknown) => put(key, [String(error)])
        );
      });
    },
    [load, put, reads]
  );
  const toggle = React.useCallback(
    (line: LogLine) => {
      const key = keyOf(line);
      touched.add(key);
      if (latest.current.has(key)) {
        heights.delete(key);
        reads.forget(key);
        setOpen(
          before => new Map([...before].filter(([other]) => other !== key))
        );
        return;
      }
      setOpen(before => new Map(before).set(key, 'loading'));
      read(line, 0);
    },
    [heights, read, reads, touched]
  );
  return {
    of: line => (open.size > 0 ? (open.get(keyOf(line)) ?? null) : null),
    toggle,
    used: touched.size > 0,
    wasOpen: line => touched.has(keyOf(line)),
    refresh: line => read(line, REFRESH),
    heights
  };
}

/** Schedules the reads of the unfolded lines. */
class BarReads {
  /**
   * Read a line unless this version of it was read already.
   *
   * @param key - Key of the line.
   * @param line - The line's current version.
   * @param rest - Shortest time since the last read, in ms.
   * @param read - Reads the line.
   */
  begin(key: string, line: LogLine, rest: number, read: () => void): void {
    const known = this._known.get(key);
    if (known?.line === line) {
      return;
    }
    window.clearTimeout(known?.timer);
    const at = known?.at ?? -Infinity;
    const wait = Math.max(0, at + rest - performance.now());
    const entry = { line, at, timer: 0 };
    const now = (): void => {
      entry.at = performance.now();
      read();
    };
    this._known.set(key, entry);
    if (wait > 0) {
      entry.timer = window.setTimeout(now, wait);
    } else {
      now();
    }
  }

  /** Cancel the next read of a line and forget the last one. */
  forget(key: string): void {
    window.clearTimeout(this._known.get(key)?.timer);
    this._known.delete(key);
  }

  /** Cancel all reads. */
  end(): void {
    [...this._known.keys()].forEach(key => this.forget(key));
  }

  private readonly _known = new Map<
    string,
    { line: LogLine; at: number; timer: number }
  >();
}
