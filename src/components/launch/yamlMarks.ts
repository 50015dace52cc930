/** Marked lines of a CodeMirror editor. */
import { Extension, StateEffect, StateField } from '@codemirror/state';
import { Decoration, DecorationSet, EditorView } from '@codemirror/view';

/** A line, from 1, and why it is marked. */
export interface ILineMark {
  line: number;
  kind: 'edited' | 'error' | 'warning';
}

const setMarks = StateEffect.define<readonly ILineMark[]>();

const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (shown, transaction) => {
    let next = shown.map(transaction.changes); // they move with their lines
    for (const effect of transaction.effects) {
      if (effect.is(setMarks)) {
        const { doc } = transaction.state;
        const decorations = effect.value
          .filter(({ line }) => line >= 1 && line <= doc.lines)
          .map(({ line, kind }) =>
            Decoration.line({
              attributes: { 'data-mark': kind }
            }).range(doc.line(line).from)
          );
        next = Decoration.set(decorations, true);
      }
    }
    return next;
  },
  provide: field => EditorView.decorations.from(field)
});

/** Lets an editor show marked lines. */
export const lineMarks: Extension = marks;

/** Mark these lines, and no others. */
export function markLines(view: EditorView, lines: readonly ILineMark[]): void {
  view.dispatch({ effects: setMarks.of(lines) });
}
