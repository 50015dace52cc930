/** YAML editor with marked lines. */

import { Compartment, Extension } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { CodeEditor, IEditorServices } from '@jupyterlab/codeeditor';
import { CodeMirrorEditor, StateCommands } from '@jupyterlab/codemirror';
import * as React from 'react';
import { ILineMark, lineMarks, markLines } from './yamlMarks';

/** A position in a text; lines and columns count from 1. */
export interface ILinePlace {
  line: number;
  column: number | null;
}

interface IYamlEditorProps {
  editors: IEditorServices;
  label: string;
  text: string;
  /** Called with the text after the user has changed it. Without this handler, the text is read-only. */
  onChange?: (text: string) => void;
  /** Makes the editor read-only for some time; the cursor and the undo history are kept. */
  locked?: boolean;
  marks: readonly ILineMark[];
  /** Further extension of the editor; it may be replaced. */
  extension?: Extension | null;
  /** Position to reveal and focus whenever another object is passed. */
  place: ILinePlace | null;
}

/** Makes Shift Enter start a new line. Without it, the element's `data-jp-code-runner` gives the key to “Run Code”. */
const newLineKeys = keymap.of([
  { key: 'Shift-Enter', run: StateCommands.completerOrInsertNewLine }
]);

/** A YAML text in JupyterLab's CodeMirror editor. */
export function YamlEditor({
  editors,
  label,
  text,
  onChange,
  locked = false,
  marks,
  extension = null,
  place
}: IYamlEditorProps): React.JSX.Element {
  const host = React.useRef<HTMLDivElement>(null);
  const editor = React.useRef<CodeEditor.IEditor | null>(null);
  const changed = React.useRef(onChange);
  changed.current = onChange;
  const readOnly = !onChange;
  const [further] = React.useState(() => new Compartment());
  const first = React.useRef(text);
  first.current = text;

  React.useLayoutEffect(() => {
    const model = new CodeEditor.Model({ mimeType: 'text/x-yaml' });
    model.sharedModel.setSource(first.current);
    editor.current = editors.factoryService.newDocumentEditor({
      host: host.current as HTMLDivElement,
      model,
      config: {
        readOnly,
        lineNumbers: true,
        lineWrap: false,
        scrollPastEnd: false,
        tabSize: 2
      },
      extensions: [
        lineMarks,
        further.of([]),
        newLineKeys,
        EditorView.contentAttributes.of({
          'aria-label': label,
          ...(readOnly && { tabindex: '0', 'aria-readonly': 'true' })
        })
      ]
    });
    const { sharedModel } = model;
    const onText = () => changed.current?.(sharedModel.getSource());
    sharedModel.changed.connect(onText);
    return () => {
      sharedModel.changed.disconnect(onText);
      editor.current?.dispose();
      editor.current = null;
      model.dispose();
    };
  }, [editors, readOnly, label, further]);

  React.useEffect(() => {
    if (editor.current instanceof CodeMirrorEditor) {
      const effects = further.reconfigure(extension ?? []);
      editor.current.editor.dispatch({ effects });
    }
  }, [extension, editors, readOnly, label, further]);

  React.useLayoutEffect(() => {
    if (editor.current) {
      replace(editor.current.model.sharedModel, text);
    }
  }, [text, editors, readOnly, label]);

  React.useLayoutEffect(() => {
    editor.current?.setOption('readOnly', readOnly || locked);
  }, [locked, editors, readOnly, label]);

  const lines = JSON.stringify(marks);
  React.useEffect(() => {
    if (editor.current instanceof CodeMirrorEditor) {
      markLines(editor.current.editor, marks);
      const edited = marks.find(({ kind }) => kind === 'edited');
      if (edited && edited.line <= editor.current.lineCount) {
        editor.current.revealPosition({ line: edited.line - 1, column: 0 });
      }
    }
    // Depend on the marked lines, because each rendering passes a new array.
  }, [lines, text, editors, readOnly, label]);

  React.useEffect(() => {
    if (place && editor.current) {
      const position = {
        line: Math.min(place.line, editor.current.lineCount) - 1,
        column: (place.column ?? 1) - 1
      };
      editor.current.focus();
      editor.current.setCursorPosition(position);
      editor.current.revealPosition(position);
    }
  }, [place]);

  return (
    <div
      ref={host}
      className="jp-t9k-Yaml"
      // JupyterLab's editor passes Accel Enter to commands only inside an element with this attribute.
      data-jp-code-runner={readOnly ? undefined : true}
    />
  );
}

/** Replace only the part of the text that differs, so that the scroll position is kept. */
function replace(model: CodeEditor.IModel['sharedModel'], text: string): void {
  const before = model.getSource();
  if (before === text) {
    return;
  }
  const least = Math.min(before.length, text.length);
  let start = 0;
  while (start < least && before[start] === text[start]) {
    start++;
  }
  let end = 0;
  while (
    end < least - start &&
    before[before.length - 1 - end] === text[text.length - 1 - end]
  ) {
    end++;
  }
  model.updateSource(
    start,
    before.length - end,
    text.slice(start, text.length - end)
  );
}
