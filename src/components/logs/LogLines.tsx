import { Clipboard } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Job, LogLine, Replica } from '../../api/types';
import { attemptStarts, contentsPaths, IFileLink } from '../../model/logLines';
import { ILogNote, logNotes } from '../../model/logNotes';
import { LogModel } from '../../model/logs';
import { LogSearch } from '../../model/logSearch';
import { logSources, sourceKey } from '../../model/logStreams';
import { useSignal } from '../hooks';
import { AttemptDivider } from './AttemptDivider';
import { LogNote } from './LogNote';
import { ILogRowContext, LogRow } from './LogRow';
import { PROBE, useMetrics } from './metrics';
import { RemovedDivider } from './RemovedDivider';
import { LogScroller } from './scroller';
import { selectedText } from './selection';

/** Height of a divider, in rows. */
const DIVIDER = 1.5;
/** Of many lines with the same time, each of so many says it, that one of them is in view. */
const TIME_EVERY = 16;

interface ILogLinesProps {
  log: LogModel;
  search: LogSearch;
  job: Job;
  replicas: readonly Replica[];
  times: boolean;
  wrap: boolean;
  trans: TranslationBundle;
  openFile(link: IFileLink): void;
  downloadLine(line: LogLine): void;
  onlyAttempt(attempt: number): void;
  /** Reads the updates of a progress bar, the last ones if there are many. */
  loadUpdates(line: LogLine): Promise<readonly string[]>;
}

/** The lines of a log; only those in view are in the document. */
export function LogLines(props: ILogLinesProps): React.JSX.Element {
  const { log, search, job, times, wrap, trans, openFile, downloadLine } =
    props;
  const [scroller] = React.useState(() => new LogScroller(log));
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

  // Heights that were measured hold as long as the text is laid out in the same way.
  const { row, columns, view } = metrics;
  const measured = React.useMemo(
    () => new WeakMap<LogLine, number>(),
    [row, columns, times, wrap]
  );
  const estimate = (line: LogLine): number =>
    line.removed > 0
      ? DIVIDER * row
      : wrap
        ? Math.max(1, Math.ceil(line.text.length / columns)) * row
        : row;
  const dividersAt = (index: number): number =>
    Number(dividers.has(index)) +
    (notes.before.get(index)?.length ?? 0) +
    (notes.after.get(index)?.length ?? 0);
  const note = (item: ILogNote, key: number): React.JSX.Element => (
    <LogNote key={key} note={item} several={several} trans={trans} />
  );
  scroller.scroll.viewHeight = view;
  const range = scroller.layout(
    (line, index) =>
      (measured.get(line) ?? estimate(line)) + DIVIDER * row * dividersAt(index)
  );

  React.useLayoutEffect(() => {
    scroller.place();
    let changed = false;
    block.current
      ?.querySelectorAll<HTMLElement>('.jp-t9k-LogRow')
      .forEach(element => {
        const line = log.window.line(Number(element.dataset.ordinal));
        if (!line) {
          return;
        }
        if (wrap || measured.has(line) || updates.open.has(line)) {
          const { height } = element.getBoundingClientRect();
          changed ||=
            Math.abs((measured.get(line) ?? estimate(line)) - height) > 0.5;
          measured.set(line, height);
        }
      });
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
      onScroll={scroller.onScroll}
      onWheel={event => {
        scroller.onInput();
        if (event.deltaY < 0 && log.following) {
          log.setFollowing(false);
        }
      }}
      onPointerDown={() => log.unmark()}
      onCopy={event => {
        if (block.current) {
          const text = selectedText(block.current, false);
          event.clipboardData.setData('text/plain', text);
          event.preventDefault();
        }
      }}
      onKeyDown={event => {
        if (event.target === event.currentTarget) {
          scroller.onInput();
          onKeyDown(event, log, block.current);
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
                    updates={updates.open.get(line) ?? null}
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

/** Whether a line's time need not be said, as the one before it said the same. */
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

/** Keys of the log itself; those of the whole view are the view's. */
function onKeyDown(
  event: React.KeyboardEvent,
  log: LogModel,
  block: HTMLElement | null
): void {
  const command = event.ctrlKey || event.metaKey;
  if (command && event.shiftKey && event.key.toLowerCase() === 'c' && block) {
    Clipboard.copyToSystem(selectedText(block, true));
  } else if (command && event.key === 'a' && block) {
    document.getSelection()?.selectAllChildren(block);
  } else if (event.key === 'Home') {
    log.go({ at: 'start' });
  } else if (event.key === 'End') {
    log.setFollowing(true);
  } else {
    if (event.key === 'PageUp' || event.key === 'ArrowUp') {
      log.setFollowing(false);
    }
    return; // the browser scrolls
  }
  event.preventDefault();
  event.stopPropagation();
}

interface IUpdates {
  readonly open: ReadonlyMap<LogLine, readonly string[] | 'loading'>;
  toggle(line: LogLine): void;
}

/** Which progress bars are unfolded, and their updates. */
function useUpdates(
  load: (line: LogLine) => Promise<readonly string[]>
): IUpdates {
  const [open, setOpen] = React.useState<IUpdates['open']>(() => new Map());
  const latest = React.useRef(open);
  latest.current = open;
  const toggle = React.useCallback(
    (line: LogLine) => {
      if (latest.current.has(line)) {
        setOpen(before => new Map([...before].filter(([key]) => key !== line)));
        return;
      }
      const put = (value: readonly string[]): void =>
        setOpen(before =>
          before.has(line) ? new Map(before).set(line, value) : before
        );
      setOpen(before => new Map(before).set(line, 'loading'));
      load(line).then(put, (error: unknown) => put([String(error)]));
    },
    [load]
  );
  return { open, toggle };
}
