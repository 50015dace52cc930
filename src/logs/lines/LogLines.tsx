/** List of a log's lines. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Job, LogLine, Replica } from '../../api/types';
import { attemptStarts, contentsPaths, IFileLink } from '../model/lines';
import { LogHeights } from '../model/heights';
import { ILogNote, ILogNotes, logNotes } from '../model/notes';
import { LogCopy } from '../model/copy';
import { LogSelection } from '../model/selection';
import { LogModel } from '../model/log';
import { LogSearch } from '../model/search';
import { logSources, sourceKey } from '../loading/streams';
import { useSignal } from '../../common/hooks';
import { AttemptDivider } from './AttemptDivider';
import { LogNote } from './LogNote';
import { ILogRowContext, LogRow } from './LogRow';
import { PROBE, useMetrics } from './metrics';
import { RemovedDivider } from './RemovedDivider';
import { LogScroller } from './scroller';
import { IUpdates, keyOf, useUpdates } from './updates';
import { onSelectionKey, SelectionKeeper } from './selectionKeeper';

/** Height of a divider or note, in rows. */
const DIVIDER = 1.5;
/**
 * In a run of lines with the same time, every 16th line shows the time, so that at least one of them is in
 * view.
 */
const TIME_EVERY = 16;

/** Props of `LogLines`. */
interface ILogLinesProps {
  log: LogModel;
  search: LogSearch;
  selection: LogSelection;
  copy: LogCopy;
  job: Job;
  replicas: readonly Replica[];
  /** True to show the time of each line. */
  times: boolean;
  /** True to wrap long lines. */
  wrap: boolean;
  trans: TranslationBundle;
  openFile(link: IFileLink): void;
  downloadLine(line: LogLine): void;
  /** Show only one attempt. */
  onlyAttempt(attempt: number): void;
  /** Read the updates of a progress bar; the last ones if there are many. */
  loadUpdates(line: LogLine): Promise<readonly string[]>;
}

/** Shows the lines of a log. Only the rows in view and some rows around them are in the document. */
export function LogLines(props: ILogLinesProps): React.JSX.Element {
  const { log, search, selection, copy, job, times, wrap, trans } = props;
  const { openFile, downloadLine } = props;
  const [scroller] = React.useState(() => new LogScroller(log));
  const [keeper] = React.useState(
    () => new SelectionKeeper(log, selection, scroller)
  );
  React.useEffect(keeper.attach, [keeper]);
  React.useSyncExternalStore(scroller.subscribe, scroller.version);
  const box = React.useRef<HTMLDivElement | null>(null);
  const block = React.useRef<HTMLDivElement | null>(null);
  const probe = React.useRef<HTMLSpanElement>(null);
  const updates = useUpdates(props.loadUpdates);
  const metrics = useMetrics(box, probe);
  useSignal(search.changed);

  const setBox = React.useCallback(
    (element: HTMLDivElement | null) => {
      box.current = scroller.box = element;
    },
    [scroller]
  );

  const { version, lines, first } = log.window;
  const several = log.chosen.length > 1;
  // torchrun restarts all replicas together.
  const together = job.spec.torchrun !== null;
  const streams = React.useMemo(
    () => new Map((log.streams ?? []).map(stream => [stream.id, stream])),
    [log.streams]
  );
  const series = React.useMemo(
    () =>
      new Map(
        logSources(log.streams ?? []).map(source => [source.key, source.series])
      ),
    [log.streams]
  );
  const dividers = React.useMemo(
    () => attemptStarts(lines, streams, together),
    [lines, version, streams, together]
  );
  const { atStart, atEnd } = log.window;
  const notes = React.useMemo(
    () => logNotes(lines, log.chosen, { atStart, atEnd }),
    [lines, version, log.chosen, atStart, atEnd]
  );
  const { working_dir, working_dir_path } = job;
  const context = React.useMemo<ILogRowContext>(
    () => ({
      trans,
      times,
      expression: search.expression,
      contentsPath: contentsPaths({ working_dir, working_dir_path }),
      openFile,
      downloadLine,
      toggleUpdates: updates.toggle
    }),
    [
      trans,
      times,
      search.expression,
      working_dir,
      working_dir_path,
      openFile,
      downloadLine,
      updates.toggle
    ]
  );

  // Measured heights are valid only as long as the layout of the text stays the same.
  const { row, columns, view } = metrics;
  const { heights: unfoldedHeights } = updates;
  const heights = React.useMemo(
    () =>
      new LogHeights(line => {
        if (unfoldedHeights.size > 0) {
          const known = unfoldedHeights.get(keyOf(line));
          if (known !== undefined) {
            return known;
          }
        }
        return line.removed > 0
          ? DIVIDER * row
          : wrap
            ? Math.max(1, Math.ceil(line.text.length / columns)) * row
            : row;
      }),
    [unfoldedHeights, row, columns, times, wrap]
  );
  const extra = React.useMemo(
    () => extraHeights(dividers, notes, DIVIDER * row),
    [dividers, notes, row]
  );
  const note = (item: ILogNote, key: number): React.JSX.Element => (
    <LogNote key={key} note={item} several={several} trans={trans} />
  );
  scroller.scroll.viewHeight = view;
  const range = scroller.layout(heights.tops(lines, first, extra));

  React.useLayoutEffect(() => scroller.onResized(), [scroller, metrics]);
  React.useLayoutEffect(() => {
    scroller.place();
    const changed = measureRows(block.current, log, heights, updates, wrap);
    keeper.restore(first + range.start, first + range.end);
    if (changed) {
      scroller.update();
    }
  });

  return (
    <div
      ref={setBox}
      className="jp-t9k-LogLines"
      data-wrap={wrap}
      data-times={times}
      role="log"
      aria-live="off"
      aria-label={trans.__('Log of %1', job.name)}
      aria-busy={log.loading}
      tabIndex={0}
      onScroll={() => {
        scroller.onScroll();
        keeper.onScrolled();
      }}
      onWheel={event => {
        scroller.onInput();
        if (event.deltaY < 0 && log.following) {
          log.setFollowing(false);
        }
      }}
      onPointerDown={event => {
        log.unmark();
        keeper.onPointerDown(event);
      }}
      onCopy={event => {
        keeper.sync(); // The browser's `selectionchange` event may still be pending.
        if (!selection.isEmpty) {
          event.preventDefault();
          const { clipboardData } = event;
          void copy.copy(false, text => {
            clipboardData.setData('text/plain', text);
            return true;
          });
        }
      }}
      onKeyDown={event => {
        if (event.target === event.currentTarget) {
          if (onSelectionKey(event, log, selection, scroller)) {
            event.preventDefault();
            event.stopPropagation();
            return;
          }
          scroller.onInput();
          onKeyDown(event, log);
        }
      }}
    >
      <span ref={probe} className="jp-t9k-LogLines-probe" aria-hidden>
        {PROBE}
      </span>
      <div
        className="jp-t9k-LogLines-space"
        style={{ height: scroller.scroll.height }}
      >
        <div
          ref={element => {
            block.current = scroller.block = element;
          }}
          className="jp-t9k-LogLines-block"
        >
          {lines.slice(range.start, range.end).map((line, place) => {
            const index = range.start + place;
            const stream = streams.get(line.stream);
            const divider = dividers.get(index);
            const hit = search.hitOf(line);
            return (
              <React.Fragment key={first + index}>
                {divider && (
                  <AttemptDivider
                    stream={divider}
                    time={line.time}
                    job={job}
                    replicas={props.replicas}
                    trans={trans}
                    only={
                      log.filter.attempt === null ? props.onlyAttempt : null
                    }
                  />
                )}
                {notes.before.get(index)?.map(note)}
                {line.removed > 0 ? (
                  <RemovedDivider
                    line={line}
                    stream={several ? stream : undefined}
                    ordinal={first + index}
                    trans={trans}
                  />
                ) : (
                  <LogRow
                    context={context}
                    line={line}
                    stream={stream}
                    series={
                      stream && stream.source !== 'launcher'
                        ? (series.get(sourceKey(stream)) ?? null)
                        : null
                    }
                    ordinal={first + index}
                    sameTime={!divider && sameTime(lines, index, first + index)}
                    hit={
                      hit === undefined
                        ? null
                        : hit === search.current
                          ? 'current'
                          : 'hit'
                    }
                    marked={log.isMarked(line)}
                    updates={updates.of(line)}
                  />
                )}
                {notes.after.get(index)?.map(note)}
              </React.Fragment>
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** Return the height of the dividers and notes at each row that has any, by the row's index. */
function extraHeights(
  dividers: ReadonlyMap<number, unknown>,
  notes: ILogNotes,
  height: number
): ReadonlyMap<number, number> {
  const extra = new Map<number, number>();
  const add = (index: number, count: number): void => {
    extra.set(index, (extra.get(index) ?? 0) + count * height);
  };
  dividers.forEach((_, index) => add(index, 1));
  notes.before.forEach((each, index) => add(index, each.length));
  notes.after.forEach((each, index) => add(index, each.length));
  return extra;
}

/**
 * Measure the rows in the document whose height isn't known.
 *
 * @param block - The element that contains the rows.
 * @param log - The log.
 * @param heights - Receives the measured heights.
 * @param updates - The unfolded progress bars, whose rows have variable heights.
 * @param wrap - True if long lines are wrapped.
 * @returns True if a height differs from its estimate.
 */
function measureRows(
  block: HTMLElement | null,
  log: LogModel,
  heights: LogHeights,
  updates: IUpdates,
  wrap: boolean
): boolean {
  if (!wrap && !updates.used) {
    return false; // All rows have the height of one text line.
  }
  let changed = false;
  block?.querySelectorAll<HTMLElement>('.jp-t9k-LogRow').forEach(element => {
    const ordinal = Number(element.dataset.ordinal);
    const line = log.window.line(ordinal);
    if (!line) {
      return;
    }
    const unfolded = updates.of(line) !== null;
    if (unfolded) {
      updates.refresh(line);
    }
    if (
      unfolded ||
      updates.wasOpen(line) ||
      (wrap && !heights.isMeasured(line))
    ) {
      const { height } = element.getBoundingClientRect();
      changed = heights.measured(ordinal, line, height) || changed;
      if (unfolded) {
        updates.heights.set(keyOf(line), height);
      }
    }
  });
  return changed;
}

/**
 * Return true if the previous line shows the same time, so that the row can leave it out.
 *
 * @param lines - The window's lines.
 * @param index - Index of the line.
 * @param ordinal - Ordinal of the line.
 */
function sameTime(
  lines: readonly LogLine[],
  index: number,
  ordinal: number
): boolean {
  const alike = (other: LogLine | undefined): boolean =>
    other?.stream === lines[index].stream && other.time === lines[index].time;
  const again = ordinal % TIME_EVERY === 0 && alike(lines[index - TIME_EVERY]);
  return alike(lines[index - 1]) && !again;
}

/** Handle the keys that go to another part of the log. */
function onKeyDown(event: React.KeyboardEvent, log: LogModel): void {
  if (event.key === 'Home') {
    log.go({ at: 'start' });
  } else if (event.key === 'End') {
    log.setFollowing(true);
  } else {
    if (event.key === 'PageUp' || event.key === 'ArrowUp') {
      log.setFollowing(false);
    }
    return; // The browser scrolls.
  }
  event.preventDefault();
  event.stopPropagation();
}
