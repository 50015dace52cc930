/** CodeMirror extension that marks lines of an editor. */
import {
  EditorState,
  Extension,
  RangeSet,
  StateEffect,
  StateField
} from '@codemirror/state';
import {
  Decoration,
  DecorationSet,
  EditorView,
  GutterMarker,
  gutterLineClass
} from '@codemirror/view';

/** A marked line and the kind of its mark; lines and columns count from 1. */
export interface ILineMark {
  line: number;
  kind: 'edited' | 'error' | 'warning';
  /** Column of the word to underline; without it no word is underlined. */
  column?: number | null;
  /** Sentence about the line. */
  message?: string;
}

/** Mark in the gutter, which stays visible when long lines are scrolled horizontally. */
class Mark extends GutterMarker {
  constructor(readonly kind: ILineMark['kind']) {
    super();
    this.elementClass = `jp-t9k-mod-${kind}`;
  }

  override eq(other: Mark): boolean {
    return this.kind === other.kind;
  }
}

interface IMarks {
  lines: DecorationSet;
  words: DecorationSet;
  gutter: RangeSet<GutterMarker>;
}

const setMarks = StateEffect.define<readonly ILineMark[]>();

const marks = StateField.define<IMarks>({
  create: () => ({
    lines: Decoration.none,
    words: Decoration.none,
    gutter: RangeSet.empty
  }),
  update: ({ lines, words, gutter }, { changes, effects, state }) => {
    const asked = effects.find(effect => effect.is(setMarks));
    if (!asked) {
      // The marks move with their lines.
      return {
        lines: lines.map(changes),
        words: words.map(changes),
        gutter: gutter.map(changes)
      };
    }
    const { doc } = state;
    const known = (asked.value as readonly ILineMark[]).filter(
      ({ line }) => line >= 1 && line <= doc.lines
    );
    const strongest = new Map<number, ILineMark['kind']>();
    for (const { line, kind } of known) {
      strongest.set(
        line,
        kind === 'error' ? kind : (strongest.get(line) ?? kind)
      );
    }
    const shown = [...strongest].map(([line, kind]) => ({
      kind,
      from: doc.line(line).from
    }));
    return {
      words: Decoration.set(
        known.flatMap(mark => {
          const [from, to] = wordOf(state, mark);
          const { kind, message } = mark;
          return from < to
            ? Decoration.mark({
                class: 'jp-t9k-Yaml-underline',
                attributes: { 'data-mark': kind },
                problem: { kind, message }
              }).range(from, to)
            : [];
        }),
        true
      ),
      lines: Decoration.set(
        shown.map(({ kind, from }) =>
          Decoration.line({ attributes: { 'data-mark': kind } }).range(from)
        ),
        true
      ),
      gutter: RangeSet.of(
        shown.map(({ kind, from }) => new Mark(kind).range(from)),
        true
      )
    };
  },
  provide: field => [
    EditorView.decorations.from(field, ({ lines }) => lines),
    EditorView.decorations.from(field, ({ words }) => words),
    gutterLineClass.from(field, ({ gutter }) => gutter)
  ]
});

/** Return the range of the word at a mark's column; an empty range if the mark has no column. */
function wordOf(
  { doc }: EditorState,
  { line, column }: ILineMark
): [from: number, to: number] {
  const { from, text } = doc.line(line);
  if (column === null || column === undefined) {
    return [from, from];
  }
  const rest = text.slice(column - 1).trimStart();
  const start = from + text.length - rest.length;
  const word = /^[^\s:#]+/.exec(rest)?.[0] ?? rest;
  return [start, start + word.length];
}

/** Return the messages about the line of a position. */
export function problemsAt(
  state: EditorState,
  pos: number
): { kind: ILineMark['kind']; message: string }[] {
  const { from, to } = state.doc.lineAt(pos);
  const found: { kind: ILineMark['kind']; message: string }[] = [];
  state.field(marks, false)?.words.between(from, to, (_from, _to, { spec }) => {
    const { kind, message } = spec.problem as ILineMark;
    if (message) {
      found.push({ kind, message });
    }
  });
  return found;
}

/** The extension of an editor that shows marked lines. */
export const lineMarks: Extension = marks;

/**
 * Replace an editor's marks.
 *
 * @param view - The editor.
 * @param lines - The lines to mark; lines outside of the text are ignored.
 */
export function markLines(view: EditorView, lines: readonly ILineMark[]): void {
  view.dispatch({ effects: setMarks.of(lines) });
}
