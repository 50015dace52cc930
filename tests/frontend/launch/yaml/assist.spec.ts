import {
  acceptCompletion,
  currentCompletions,
  startCompletion
} from '@codemirror/autocomplete';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { nullTranslator } from '@jupyterlab/translation';
import { waitFor } from '@testing-library/dom';
import { KindSchema, SchemaNode } from '../../../../src/api/types';
import { yamlAssist } from '../../../../src/launch/yaml/assist';
import { lineMarks, markLines } from '../../../../src/ui/editor/yamlMarks';

const trans = nullTranslator.load('jupyterlab_t9kjob');

function node(more: Partial<SchemaNode>): SchemaNode {
  return {
    ...{ types: [], description: null, fields: {}, required: [], enum: [] },
    ...{ values: null, items: null, others: false },
    ...more
  };
}

const SCHEMA: KindSchema = {
  kind: 'Job',
  source: 'cluster',
  note: null,
  root: 0,
  nodes: [
    node({ types: ['object'], fields: { kind: 1, spec: 2 } }),
    node({ types: ['string'] }),
    node({
      types: ['object'],
      description: 'What is to run.',
      fields: { policy: 3, paused: 4, replicas: 5 },
      required: ['replicas']
    }),
    node({ types: ['string'], enum: ['All', 'None'] }),
    node({ types: ['boolean'] }),
    node({ types: ['array'], items: 6 }),
    node({ types: ['object'], fields: { type: 1 } })
  ]
};

describe('editing a manifest', () => {
  let view: EditorView;

  beforeAll(() => {
    Range.prototype.getClientRects = () => [] as unknown as DOMRectList;
    Range.prototype.getBoundingClientRect = () => new DOMRect();
  });

  afterEach(() => view.destroy());

  /** An editor with the cursor at the `¦` of a text. */
  function open(text: string, schema: KindSchema | null = SCHEMA): void {
    const anchor = text.indexOf('¦');
    view = new EditorView({
      parent: document.body,
      state: EditorState.create({
        doc: text.replace('¦', ''),
        selection: { anchor },
        extensions: [lineMarks, yamlAssist(schema, trans)]
      })
    });
    view.focus();
  }

  async function offered(): Promise<string[]> {
    startCompletion(view);
    await waitFor(() =>
      expect(currentCompletions(view.state).length).toBeGreaterThan(0)
    );
    return currentCompletions(view.state).map(({ label }) => label);
  }

  async function accept(): Promise<void> {
    await waitFor(() => expect(acceptCompletion(view)).toBe(true), {
      interval: 90 // a list that has just opened ignores keys
    });
  }

  it('offers the missing fields, required ones first, and writes what follows', async () => {
    open('spec:\n  paused: true\n  ¦');
    expect(await offered()).toEqual(['replicas', 'policy']);
    await accept();
    expect(view.state.doc.toString()).toBe(
      'spec:\n  paused: true\n  replicas:\n    - '
    );
    expect(await offered()).toEqual(['type']);
  });

  it('offers the values of a field, also right after its name', async () => {
    open('spec:\n  pol¦');
    await offered();
    await accept();
    await waitFor(() =>
      expect(currentCompletions(view.state).map(({ label }) => label)).toEqual([
        'All',
        'None'
      ])
    );
    await accept();
    expect(view.state.doc.toString()).toBe('spec:\n  policy: All');
  });

  it('replaces a whole name, and leaves its value', async () => {
    open('spec:\n  pa¦use: true');
    await offered();
    await accept();
    expect(view.state.doc.toString()).toBe('spec:\n  paused: true');
  });

  const press = (key: string, keyCode: number): void => {
    view.contentDOM.dispatchEvent(
      new KeyboardEvent('keydown', { key, keyCode, bubbles: true })
    );
  };

  it('explains a field and its problem with F1 until Escape', () => {
    open('sp¦ec:\n  x: 1');
    const marks = [{ line: 1, column: 1, kind: 'warning' as const }];
    markLines(view, [{ ...marks[0], message: 'spec is odd.' }]);
    expect(document.querySelector('.jp-t9k-Yaml-underline')).toHaveProperty(
      'textContent',
      'spec'
    );
    press('F1', 112);
    const tooltip = (): string | undefined =>
      document.querySelector('[role="tooltip"]')?.textContent ?? undefined;
    expect(tooltip()).toBe('spec is odd.spec objectWhat is to run.');
    press('Escape', 27);
    expect(tooltip()).toBeUndefined();
  });

  it('indents the first field of an object, and no other line', () => {
    open('a:\n- b: # note¦');
    press('Enter', 13);
    expect(view.state.doc.toString()).toBe('a:\n- b: # note\n    ');
    view.destroy();
    open('a: 1¦');
    press('Enter', 13);
    expect(view.state.doc.toString()).toBe('a: 1'); // left to the lab's keys
  });

  it('explains problems without a schema', () => {
    open('sp¦ec: 1', null);
    markLines(view, [
      { line: 1, column: 1, kind: 'error', message: 'Not this.' },
      { line: 7, kind: 'error' }
    ]);
    press('F1', 112);
    expect(document.querySelector('[role="tooltip"]')?.textContent).toBe(
      'Not this.'
    );
  });
});
