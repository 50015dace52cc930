/** A job's log and the server's end of its socket, pretended. */
import { ISignal, Signal } from '@lumino/signaling';
import {
  LogErrors,
  LogHit,
  LogLine,
  LogMessage,
  LogRequest,
  LogStream,
  ReadLog
} from '../../src/api/types';
import { ILogSocket } from '../../src/logs/loading/session';

type Cursor = Record<string, number>;

/** A stream of a rank's standard output. */
export function someStream(
  rank: number,
  changes: Partial<LogStream> = {}
): LogStream {
  const attempt = changes.attempt ?? 1;
  return {
    id: `worker-0.${attempt}.rank-${rank}.out`,
    replica: 'worker-0',
    attempt,
    source: 'rank',
    output: 'stdout',
    local_rank: rank,
    rank,
    worker_restart: 0,
    size: 0,
    removed: 0,
    first_time: null,
    last_time: null,
    complete: false,
    missing: [],
    waiting: null,
    container: null,
    ...changes
  };
}

/** Answers like the server; `write` appends to the log, `flush` sends what was asked for. */
export class FakeLog implements ILogSocket {
  readonly asked: LogRequest[] = [];
  isOpen = false;
  isDisposed = false;
  /** Messages that wait for `flush`. */
  private _out: LogMessage[] = [];

  streams: LogStream[] = [];
  /** Lines that a request with a level gets. */
  shows: (line: LogLine) => boolean = () => true;
  /** Most lines that a request with a level reads. */
  most = Infinity;
  /** Answers to requests for first errors. */
  errors: Omit<LogErrors, 'type' | 'request'>[] = [];
  private _lines: LogLine[] = [];
  private readonly _ends = new Map<string, number>();
  private _follow: { streams: string[]; cursor: Cursor } | null = null;
  private _sequence = 0;

  get opened(): ISignal<this, void> {
    return this._opened;
  }

  get closed(): ISignal<this, void> {
    return this._closed;
  }

  get received(): ISignal<this, LogMessage> {
    return this._received;
  }

  dispose(): void {
    this.isDisposed = true;
  }

  /** Write whole lines of a rank, one each `step` seconds. */
  write(stream: LogStream, texts: string[], time = 0, step = 1): void {
    texts.forEach((text, index) => this.put(stream, text, time + index * step));
  }

  /** Write one line, or the beginning of one; if the line written last is such, it is replaced. */
  put(
    stream: LogStream,
    text: string,
    time: number,
    changes: Partial<LogLine> = {}
  ): void {
    const { partial = false } = changes;
    const last = this._lines[this._lines.length - 1];
    if (last?.stream === stream.id && last.partial) {
      this._lines.pop();
    }
    const offset = this._ends.get(stream.id) ?? 0;
    const size =
      changes.removed || changes.size || text.length + (partial ? 0 : 1);
    this._lines.push({
      stream: stream.id,
      offset,
      time,
      text,
      updates: 1,
      partial,
      cut: false,
      removed: 0,
      ...changes,
      size
    });
    stream.size = offset + size;
    stream.removed += changes.removed ?? 0;
    if (!partial) {
      this._ends.set(stream.id, stream.size);
    }
  }

  connect(streams = this.streams): void {
    this.streams = streams;
    this.isOpen = true;
    this._opened.emit();
    this.list();
  }

  /** Tell the streams. */
  list(): void {
    this._received.emit({
      type: 'streams',
      streams: this.streams.map(stream => ({ ...stream }))
    });
  }

  break(): void {
    this.isOpen = false;
    this._follow = null;
    this._out = [];
    this._closed.emit();
  }

  send(message: LogRequest): void {
    this.asked.push(message);
    switch (message.type) {
      case 'read':
        this._out.push(this._page(message));
        break;
      case 'search': {
        const hits = this._find(message.pattern, message.streams ?? []);
        this._out.push({
          type: 'hits',
          request: message.request,
          hits: hits.slice(0, message.limit),
          complete: hits.length <= (message.limit ?? 1000),
          stopped: null
        });
        break;
      }
      case 'errors': {
        const [next] = this.errors.splice(0, 1);
        if (next) {
          this._out.push({
            type: 'first_errors',
            request: message.request,
            ...next
          });
        }
        break;
      }
      case 'follow':
        this._follow = {
          streams: message.streams ?? [],
          cursor: { ...message.cursor }
        };
        break;
      case 'unfollow':
        this._follow = null;
    }
  }

  /** Send the answers that wait, then what is new to a follower. */
  async flush(): Promise<void> {
    const turn = (): Promise<unknown> =>
      new Promise(resolve => setTimeout(resolve));
    await turn();
    while (this._out.length) {
      const messages = this._out;
      this._out = [];
      messages.forEach(message => this._received.emit(message));
      await turn();
    }
    this.push();
  }

  /** Send what is behind a follower's cursor, at most `most` lines. */
  push(most = 2000): void {
    const follow = this._follow;
    if (!follow) {
      return;
    }
    const all = this._chosen(follow.streams).filter(
      line => line.offset + line.size > (follow.cursor[line.stream] ?? 0)
    );
    const lines = all.slice(0, most);
    if (lines.length === 0) {
      return;
    }
    lines.forEach(line => {
      follow.cursor[line.stream] = line.offset + line.size;
    });
    this._received.emit({
      type: 'append',
      sequence: ++this._sequence,
      lines,
      after: { ...follow.cursor },
      caught_up: all.length <= most
    });
  }

  private _page(question: ReadLog): LogMessage {
    const ids = question.streams ?? [];
    const lines = this._chosen(ids);
    const { anchor, direction = 'forward', level } = question;
    const most = Math.min(question.lines ?? 1000, level ? this.most : Infinity);
    const behind = (line: LogLine): boolean =>
      anchor === 'start'
        ? true
        : anchor === 'end'
          ? false
          : typeof anchor === 'number'
            ? (line.time ?? 0) >= anchor
            : line.offset + line.size > (anchor[line.stream] ?? 0);
    const after = lines.filter(behind);
    const before = lines.filter(line => !behind(line));
    const page =
      direction === 'forward' ? after.slice(0, most) : before.slice(-most);
    const rest =
      direction === 'forward'
        ? [before, after.slice(most)]
        : [before.slice(0, -most), after];
    const cursor = (left: LogLine[]): Cursor => {
      const ends: Cursor = Object.fromEntries(ids.map(id => [id, 0]));
      left.forEach(({ stream, offset, size }) => {
        ends[stream] = offset + size;
      });
      return ends;
    };
    return {
      type: 'page',
      request: question.request,
      lines: level ? page.filter(this.shows) : page,
      before: cursor(rest[0]),
      after: cursor([...rest[0], ...page]),
      at_start: rest[0].length === 0,
      at_end: rest[1].length === 0
    };
  }

  private _find(pattern: string, ids: string[]): LogHit[] {
    return this._chosen(ids)
      .filter(line => line.text.includes(pattern))
      .map(({ stream, offset, time, text }) => ({
        stream,
        offset,
        time,
        text,
        spans: [],
        before: [],
        after: []
      }));
  }

  private _chosen(ids: string[]): LogLine[] {
    const order = this.streams.map(stream => stream.id);
    return this._lines
      .filter(line => ids.includes(line.stream))
      .sort(
        (a, b) =>
          (a.time ?? 0) - (b.time ?? 0) ||
          order.indexOf(a.stream) - order.indexOf(b.stream) ||
          a.offset - b.offset
      );
  }

  private readonly _opened = new Signal<this, void>(this);
  private readonly _closed = new Signal<this, void>(this);
  private readonly _received = new Signal<this, LogMessage>(this);
}
