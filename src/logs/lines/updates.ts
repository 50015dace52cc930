import * as React from 'react';
import { LogLine } from '../../api/types';

/** A bar's updates are read again at most this often while it moves, in ms. */
const REFRESH = 1000;

type Updates = readonly string[] | 'loading';

/** The progress bars of a log that are unfolded. */
export interface IUpdates {
  /** The updates of a line that is unfolded; null of one that is not. */
  of(line: LogLine): Updates | null;
  toggle(line: LogLine): void;
  /** Whether any line was ever unfolded. */
  readonly used: boolean;
  /** Whether a line was ever unfolded, so that its height may change. */
  wasOpen(line: LogLine): boolean;
  /** Read them again if the line has grown since. */
  refresh(line: LogLine): void;
  /** Heights of the unfolded lines, by `keyOf`: a line that has grown is as high as it was before. */
  readonly heights: Map<string, number>;
}

/** Return a key of a line that stays the same while the line grows. */
export function keyOf({ stream, offset }: LogLine): string {
  return `${stream}:${offset}`;
}

/** Which progress bars are unfolded, and their updates. */
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

/** Which state of each unfolded line was read last, and when it is read again. */
class BarReads {
  /** Read a line unless it was read as it is; after a rest, in which it may grow further. */
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

  forget(key: string): void {
    window.clearTimeout(this._known.get(key)?.timer);
    this._known.delete(key);
  }

  end(): void {
    [...this._known.keys()].forEach(key => this.forget(key));
  }

  private readonly _known = new Map<
    string,
    { line: LogLine; at: number; timer: number }
  >();
}
