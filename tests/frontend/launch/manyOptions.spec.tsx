import { StateDB } from '@jupyterlab/statedb';
import { act, fireEvent, screen, within } from '@testing-library/react';
import { ScriptOption } from '../../../src/api/types';
import { someEditors } from '../editors';
import { LaunchServer, launchModel, option, somePrefill } from '../launchFakes';
import { drawLaunch, layOut, someActions } from '../launchView';

const editors = someEditors();
const OPTIONS = someOptions(90);

function someOptions(length: number): ScriptOption[] {
  return Array.from({ length }, (_, index) =>
    option(`--option-${index}`, { kind: 'int', default: '1' })
  );
}

it('shows the first options at once, and others while the page is idle or when links lead to them', async () => {
  layOut(1200);
  const idle: IdleRequestCallback[] = [];
  window.requestIdleCallback = callback => idle.push(callback);
  window.cancelIdleCallback = () => undefined;
  const server = new LaunchServer();
  const { script } = server.prefill;
  server.prefill = somePrefill({ script: { ...script, options: OPTIONS } });
  const db = new StateDB();
  const model = launchModel(server, { db });
  await model.open();
  await drawLaunch(model, db, someActions(), editors);
  const rows = (): number =>
    document.querySelectorAll('.jp-t9k-Launch-option').length;
  expect(rows()).toBe(40);
  await act(async () => model.setOption(OPTIONS[60], 'no number'));
  expect(rows()).toBe(61);
  for (let calls = 0; idle.length && calls < 20; calls++) {
    const due = idle.splice(0);
    await act(async () =>
      due.at(-1)?.({ didTimeout: false, timeRemaining: () => 9 })
    );
  }
  expect(rows()).toBe(90);
  expect(idle).toEqual([]);
  model.dispose();
});

it('draws the small buttons of a row of many when the row is first pointed at or focused', async () => {
  layOut(1200);
  const server = new LaunchServer();
  const { script } = server.prefill;
  const options = someOptions(100);
  server.prefill = somePrefill({ script: { ...script, options } });
  const db = new StateDB();
  const model = launchModel(server, { db });
  await model.open();
  await drawLaunch(model, db, someActions(), editors);
  const row = (index: number): HTMLElement => {
    const field = screen.getByLabelText(`--option-${index}`);
    const found = field.closest<HTMLElement>('.jp-t9k-Launch-option');
    if (!found) {
      throw new Error('The field is in no row.');
    }
    return found;
  };
  const buttons = (index: number): string[] =>
    within(row(index))
      .getAllByRole('button')
      .map(each => each.getAttribute('aria-label') ?? '');
  const several = (index: number): string =>
    `Enter several values of --option-${index}`;
  expect(buttons(3)).toEqual([several(3)]);
  fireEvent.pointerEnter(row(3));
  expect(buttons(3)).toEqual(['More', 'Less', several(3)]);
  expect(buttons(4)).toEqual([several(4)]);
  act(() => within(row(4)).getByRole('spinbutton').focus());
  expect(buttons(4)).toEqual(['More', 'Less', several(4)]);
  fireEvent.click(within(row(4)).getByRole('button', { name: 'More' }));
  expect(model.spec.args.slice(0, 2)).toEqual(['--option-4', '2']);
  model.dispose();
});
