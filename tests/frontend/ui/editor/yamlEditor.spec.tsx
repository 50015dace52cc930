import { CommandRegistry } from '@lumino/commands';
import { render } from '@testing-library/react';
import * as React from 'react';
import { YamlEditor } from '../../../../src/ui/editor/YamlEditor';
import { someEditors } from '../../editors';

describe('the editor of a manifest', () => {
  const run = jest.fn();
  const submit = jest.fn();
  const commands = new CommandRegistry();
  const onKey = (event: KeyboardEvent): void =>
    commands.processKeydownEvent(event);

  beforeAll(() => {
    Range.prototype.getClientRects = () => [] as unknown as DOMRectList;
    commands.addCommand('runmenu:run', { execute: run });
    commands.addCommand('submit', { execute: submit });
    commands.addKeyBinding({
      command: 'runmenu:run',
      keys: ['Shift Enter'],
      selector: '[data-jp-code-runner]' // as in the lab's Run menu
    });
    commands.addKeyBinding({
      command: 'submit',
      keys: ['Accel Enter'],
      selector: 'body'
    });
    document.addEventListener('keydown', onKey);
  });

  afterAll(() => document.removeEventListener('keydown', onKey));

  const lines = (): (string | null)[] =>
    [...document.querySelectorAll('.cm-line')].map(
      ({ textContent }) => textContent
    );
  const press = (modifiers: KeyboardEventInit): void => {
    const content = document.querySelector('.cm-content');
    const key = { key: 'Enter', keyCode: 13, bubbles: true, cancelable: true };
    content?.dispatchEvent(
      new KeyboardEvent('keydown', { ...key, ...modifiers })
    );
  };

  it('has a new line with Shift Enter, and leaves Ctrl Enter to the form', () => {
    render(
      <YamlEditor
        editors={someEditors()}
        label="Manifest"
        text="kind: X"
        onChange={jest.fn()}
        marks={[]}
        place={{ line: 1, column: 8 }}
      />
    );
    press({ shiftKey: true });
    expect(lines()).toEqual(['kind: X', '']);
    expect(run).not.toHaveBeenCalled();
    press({ ctrlKey: true });
    expect(submit).toHaveBeenCalledTimes(1);
    expect(lines()).toHaveLength(2);
  });
});
