/** The form for an engine of another distribution that supports few features. */
import { StateDB } from '@jupyterlab/statedb';
import { act, cleanup, fireEvent, screen } from '@testing-library/react';
import { EngineInfo } from '../../../src/api/types';
import { factsOf } from '../../../src/jobs/engines';
import { LaunchModel } from '../../../src/launch/model/launch';
import {
  LaunchServer,
  launchModel,
  somePrefill,
  someSpec
} from '../launchFakes';
import { drawLaunch, layOut } from '../launchView';

const no = { supported: false, reason: 'Simple processes run one script.' };

const [local] = somePrefill().engines;
const simple: EngineInfo = {
  ...local,
  name: 'simple-processes',
  label: 'Simple processes',
  machine: null,
  facts: {
    ...factsOf([], ''),
    shares_lab_filesystem: true,
    runs_on_lab_machine: true,
    runs_in_kernel: true
  },
  capabilities: Object.fromEntries(
    [
      ...['torchrun', 'replicas', 'devices', 'restarts', 'restart_always'],
      ...['deadline', 'pause', 'debug', 'cluster_tensorboard', 'queue'],
      'source'
    ].map(name => [name, no])
  )
};

const open = async (
  changes: Partial<EngineInfo> = {}
): Promise<{ server: LaunchServer; model: LaunchModel }> => {
  const server = new LaunchServer();
  server.prefill = somePrefill({
    engine: 'simple-processes',
    engines: [local, { ...simple, ...changes }],
    spec: someSpec({ torchrun: null })
  });
  const db = new StateDB();
  const model = launchModel(server, { db });
  await model.open();
  await drawLaunch(model, db);
  return { server, model };
};

const groups = (): (string | undefined)[] =>
  [...document.querySelectorAll('.jp-t9k-Launch-group h3 button')].map(
    button =>
      button.querySelector('span:not([class])')?.textContent ?? undefined
  );

describe('the form for an engine of few features', () => {
  beforeEach(() => layOut(1200));

  it('has only the groups and fields that the engine supports', async () => {
    await open();
    expect(groups()).toEqual(['What', 'TensorBoard']);
    expect(screen.getByLabelText('Kernel')).toBeTruthy();
    expect(document.body.textContent).not.toMatch(
      /torchrun|undefined|GPU|lab is closed/
    );
  });

  it('is chosen once the form that is being filled is there', async () => {
    const { server, model } = await open();
    const { answer } = server;
    let release = (): void => undefined;
    const released = new Promise<void>(resolve => (release = resolve));
    server.answer = async request => {
      await released;
      return answer(request);
    };
    const other = screen.getByRole('radio', { name: /^This machine/ });
    let filled = Promise.resolve();
    await act(async () => {
      filled = model.startFrom('defaults');
    });
    expect(other.getAttribute('aria-disabled')).toBe('true');
    expect(other.title).toBe(model.pending);
    fireEvent.click(other);
    expect(model.state.movingTo).toBeNull();
    release();
    await act(() => filled);
    expect(other.getAttribute('aria-disabled')).toBeNull();
  });

  it('has an image where no kernel runs the job', async () => {
    await open({ facts: factsOf([], '') });
    expect(groups()).toEqual(['What', 'Where', 'TensorBoard']);
    expect(screen.queryByLabelText('Kernel')).toBeNull();
    expect(document.body.textContent).toContain('Whereno image yet');
  });

  it('has no image where the engine supports none', async () => {
    const facts = { ...factsOf([], ''), has_namespaces: true };
    const capabilities = { ...simple.capabilities, image: no };
    await open({ facts, capabilities });
    expect(groups()).toEqual(['What', 'Where', 'TensorBoard']);
    expect(screen.queryByLabelText('Image')).toBeNull();
    expect(document.body.textContent).not.toContain('no image yet');
    cleanup();
    await open({ facts: factsOf([], ''), capabilities });
    expect(groups()).toEqual(['What', 'TensorBoard']);
  });
});
