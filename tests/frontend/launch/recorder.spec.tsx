import { StateDB } from '@jupyterlab/statedb';
import { fireEvent, screen } from '@testing-library/react';
import { withRecorder } from '../../../src/launch/content/recorder';
import { LaunchModel } from '../../../src/launch/model/launch';
import {
  launchModel,
  LaunchServer,
  somePrefill,
  someSpec
} from '../launchFakes';
import { drawLaunch, layOut } from '../launchView';

const FOLDER = '/w/.t9kjob/em/t9kjob-em-1';
const row = (value: string) => ({ name: 'PYTHONPATH', value, secret: null });
const secret = { name: 's', key: 'k' };

describe('the recorder', () => {
  let server: LaunchServer;
  let model: LaunchModel;

  beforeAll(() => layOut(1200));

  beforeEach(() => {
    server = new LaunchServer();
    model = launchModel(server, { db: new StateDB() });
  });

  afterEach(() => model.dispose());

  it('is a checkbox that changes PYTHONPATH', async () => {
    server.prefill = somePrefill({
      recorder: { module: 't9k.em', folder: FOLDER },
      spec: someSpec({ env: [row(`/mine:${FOLDER}`)] })
    });
    await model.open();
    await drawLaunch(model, new StateDB());
    const box = () =>
      screen.getByRole<HTMLInputElement>('checkbox', {
        name: 'Add the recorder to PYTHONPATH'
      });
    expect(box().checked).toBe(true);
    expect(
      document.getElementById(
        box().getAttribute('aria-describedby')?.split(' ')[0] ?? ''
      )?.textContent
    ).toBe('the script imports t9k.em');
    fireEvent.click(box());
    expect(model.spec.env).toEqual([row('/mine')]);
    expect(box().checked).toBe(false);
    fireEvent.click(box());
    expect(model.spec.env).toEqual([row(`/mine:${FOLDER}`)]);
  });

  it('is not shown if the script does not need it', async () => {
    await model.open();
    await drawLaunch(model, new StateDB());
    expect(screen.queryByText('Add the recorder to PYTHONPATH')).toBeNull();
  });

  it('adds and removes the variable, and keeps one from a secret', () => {
    expect(withRecorder([], FOLDER, true)).toEqual([row(FOLDER)]);
    expect(withRecorder([row(FOLDER)], FOLDER, false)).toEqual([]);
    const kept = [{ name: 'PYTHONPATH', value: null, secret }];
    expect(withRecorder(kept, FOLDER, true)).toEqual(kept);
  });
});
