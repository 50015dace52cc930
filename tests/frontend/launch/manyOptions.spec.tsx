import { StateDB } from '@jupyterlab/statedb';
import { act } from '@testing-library/react';
import { someEditors } from '../editors';
import { LaunchServer, launchModel, option, somePrefill } from '../launchFakes';
import { drawLaunch, layOut, someActions } from '../launchView';

const editors = someEditors();
const OPTIONS = Array.from({ length: 90 }, (_, index) =>
  option(`--option-${index}`, { kind: 'int', default: '1' })
);

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
