/** CodeMirror extension that marks lines of an editor. */
import {
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

/** A marked line and the kind of its mark; lines count from 1. */
export interface ILineMark {
  line: number;
  kind: 'edited' | 'error' | 'warning';
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
  gutter: RangeSet<GutterMarker>;
}

const setMarks = StateEffect.define<readonly ILineMark[]>();

const marks = StateField.define<IMarks>({
  create: () => ({ lines: Decoration.none, gutter: RangeSet.empty }),
  update: ({ lines, gutter }, { changes, effects, state }) => {
    const asked = effects.find(effect => effect.is(setMarks));
    if (!asked) {
      // The marks move with their lines.
      return { lines: lines.map(changes), gutter: gutter.map(changes) };
    }
    const { doc } = state;
    const shown = (asked.value as readonly ILineMark[])
      .filter(({ line }) => line >= 1 && line <= doc.lines)
      .map(({ line, kind }) => ({ kind, from: doc.line(line).from }));
    return {
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
    gutterLineClass.from(field, ({ gutter }) => gutter)
  ]
});

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
