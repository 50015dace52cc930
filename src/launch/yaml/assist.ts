/** CodeMirror extension that completes and explains the fields of a manifest. It is loaded when a manifest is edited. */
import {
  autocompletion,
  Completion,
  CompletionContext,
  CompletionResult,
  pickedCompletion,
  startCompletion
} from '@codemirror/autocomplete';
import {
  EditorState,
  Extension,
  Prec,
  StateEffect,
  StateField
} from '@codemirror/state';
import {
  EditorView,
  hoverTooltip,
  keymap,
  showTooltip,
  Tooltip,
  tooltips
} from '@codemirror/view';
import { TranslationBundle } from '@jupyterlab/translation';
import { KindSchema, SchemaNode } from '../../api/types';
import { problemsAt } from '../../ui/editor/yamlMarks';
import { indentAfter, keyAt, positionAt } from './position';
import { fieldsOf, nodeAt, pathText, typeText, valuesOf } from './schema';

/**
 * Return the extension of the editor of a manifest: completion, and explanations of fields and problems.
 *
 * @param schema - Fields of the manifest; null if they are not known. Problems are explained without them too.
 */
export function yamlAssist(
  schema: KindSchema | null,
  trans: TranslationBundle
): Extension {
  const explained = (state: EditorState, pos: number): Tooltip | null =>
    explanation(schema, trans, state, pos);
  const shown = shownExplanation(explained, trans);
  return [
    // The form's panels hide what overflows them.
    tooltips({ parent: document.body, position: 'fixed' }),
    hoverTooltip((view, pos) => explained(view.state, pos)),
    shown,
    // Before the lab's own keys, behind those of an open list of fields.
    Prec.high(keymap.of([{ key: 'Enter', run: indentFields }])),
    schema
      ? autocompletion({
          override: [context => completions(schema, trans, context)],
          icons: false,
          tooltipClass: () => 'jp-t9k-Yaml-completion'
        })
      : []
  ];
}

/** Begin a line for the first field of an object, if the cursor stands behind the object's key. */
function indentFields(view: EditorView): boolean {
  const { state } = view;
  const { head, empty } = state.selection.main;
  const line = state.doc.lineAt(head);
  const indent = empty && head === line.to ? indentAfter(line.text) : null;
  if (indent === null || state.readOnly) {
    return false;
  }
  const insert = `\n${' '.repeat(indent)}`;
  view.dispatch({
    changes: { from: head, insert },
    selection: { anchor: head + insert.length },
    scrollIntoView: true,
    userEvent: 'input'
  });
  return true;
}

function completions(
  schema: KindSchema,
  trans: TranslationBundle,
  { state, pos, explicit }: CompletionContext
): CompletionResult | null {
  const line = state.doc.lineAt(pos);
  const position = positionAt(linesOf(state), line.number - 1, pos - line.from);
  if (!position || (!explicit && !position.text)) {
    return null;
  }
  const node = nodeAt(schema, position.path);
  if (!node) {
    return null;
  }
  const isKey = position.kind === 'key';
  const options: Completion[] = [
    ...(isKey
      ? fieldsOf(schema, node)
          .filter(({ name }) => !position.others.includes(name))
          // The cluster writes the status.
          .filter(({ name }) => position.path.length || name !== 'status')
          .map(({ name, node: field, isRequired }) => ({
            label: name,
            detail: isRequired
              ? trans.__('%1, required', typeText(field, trans))
              : typeText(field, trans),
            boost: isRequired ? 1 : 0,
            info: field.description
              ? () => paragraph(field.description ?? '')
              : undefined,
            apply: keyWriter(name, field, position.indent)
          }))
      : []),
    // An item of a list may be written where an object would have a key.
    ...(isKey && Object.keys(node.fields).length ? [] : valuesOf(node)).map(
      label => ({ label })
    )
  ];
  return options.length
    ? { from: line.from + position.from, options, validFor: /^[\w./-]*$/ }
    : null;
}

/** Return a function that writes a key, its colon, and the beginning of its value. */
function keyWriter(name: string, node: SchemaNode, indent: number) {
  return (
    view: EditorView,
    completion: Completion,
    from: number,
    to: number
  ): void => {
    const line = view.state.doc.lineAt(to);
    const rest = line.text.slice(to - line.from);
    const word = /^[^\s:,}]*/.exec(rest)?.[0] ?? '';
    const hasColon = /^\s*:/.test(rest.slice(word.length));
    const next = `\n${' '.repeat(indent)}  `;
    const value = node.types.includes('object')
      ? `:${next}`
      : node.types.includes('array')
        ? `:${next}- `
        : ': ';
    const insert = hasColon ? name : name + value;
    view.dispatch({
      changes: { from, to: to + word.length, insert },
      selection: { anchor: from + insert.length },
      userEvent: 'input.complete',
      annotations: pickedCompletion.of(completion)
    });
    if (!hasColon && valuesOf(node).length) {
      startCompletion(view);
    }
  };
}

/** Return the explanation of the key at a position, and of the problems of its line; null if there is nothing to say. */
function explanation(
  schema: KindSchema | null,
  trans: TranslationBundle,
  state: EditorState,
  pos: number
): Tooltip | null {
  const line = state.doc.lineAt(pos);
  const key = keyAt(linesOf(state), line.number - 1, pos - line.from);
  const node = schema && key && nodeAt(schema, key.path);
  const problems = problemsAt(state, pos);
  if (!problems.length && !(key && node)) {
    return null;
  }
  return {
    pos: key ? line.from + key.from : pos,
    end: key ? line.from + key.to : undefined,
    above: true,
    create: () => {
      const dom = document.createElement('div');
      dom.className = 'jp-t9k-Yaml-explanation';
      dom.setAttribute('role', 'tooltip');
      dom.append(...problems.map(({ message }) => paragraph(message)));
      if (key && node) {
        dom.append(...fieldTexts(pathText(key.path), node, trans));
      }
      return { dom };
    }
  };
}

/** Return the extension that shows the explanation at the cursor with F1, and hides it with the next change. */
function shownExplanation(
  explained: (state: EditorState, pos: number) => Tooltip | null,
  trans: TranslationBundle
): Extension {
  const show = StateEffect.define<Tooltip | null>();
  const field = StateField.define<Tooltip | null>({
    create: () => null,
    update: (value, { effects, docChanged, selection }) => {
      const asked = effects.find(effect => effect.is(show));
      return asked ? asked.value : docChanged || selection ? null : value;
    },
    provide: from => showTooltip.from(from)
  });
  const none = trans.__('There is no explanation of this line.');
  const keys = keymap.of([
    {
      key: 'F1',
      run: view => {
        const tooltip = explained(view.state, view.state.selection.main.head);
        const said = tooltip?.create(view).dom.innerText || none;
        view.dispatch({
          effects: [show.of(tooltip), EditorView.announce.of(said)]
        });
        return true;
      }
    },
    {
      key: 'Escape',
      run: view => {
        const isShown = view.state.field(field) !== null;
        if (isShown) {
          view.dispatch({ effects: show.of(null) });
        }
        return isShown;
      }
    }
  ]);
  return [field, Prec.high(keys)];
}

function linesOf(state: EditorState): string[] {
  return state.doc.toString().split('\n');
}

/** Return the paragraphs that explain a field: its place and type, what it is for, and its allowed values. */
function fieldTexts(
  place: string,
  node: SchemaNode,
  trans: TranslationBundle
): HTMLElement[] {
  const head = paragraph('');
  const name = document.createElement('strong');
  name.textContent = place;
  head.append(name, ` ${typeText(node, trans)}`);
  const values = node.enum.join(', ');
  const allowed = trans.__('Allowed: %1', values);
  return [
    head,
    ...(node.description ? [paragraph(node.description)] : []),
    ...(values ? [paragraph(allowed)] : [])
  ];
}

function paragraph(text: string): HTMLElement {
  const element = document.createElement('p');
  element.textContent = text;
  return element;
}
