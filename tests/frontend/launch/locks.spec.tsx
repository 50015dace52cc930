import { StateDB } from '@jupyterlab/statedb';
import { act, fireEvent, screen } from '@testing-library/react';
import { Lock } from '../../../src/api/types';
import { ClusterServer } from '../clusterFakes';
import { someEditors } from '../editors';
import { launchModel, someSpec } from '../launchFakes';
import { drawLaunch, layOut, someActions } from '../launchView';

const editors = someEditors();

const SOME_LOCK: Omit<Lock, 'field' | 'reason'> = {
  rule: 'value',
  values: [null],
  maximum: null,
  engines: []
};

describe('a field that the administrator locked', () => {
  beforeAll(() => {
    layOut(1200);
    Range.prototype.getClientRects = () => [] as unknown as DOMRectList;
  });

  it('makes every kind of control read-only, with the reason', async () => {
    const spec = someSpec({
      env: [{ name: 'A', value: '1', secret: null }],
      labels: { team: 'x', mine: 'y' }
    });
    spec.replica_specs[0].resources.device = { name: 'a/gpu', count: 2 };
    const server = new ClusterServer();
    server.prefill = { ...server.prefill, spec };
    const reason = 'Set for all.';
    server.presets.locks = [
      ...['/env', '/labels/team', '/working_dir', '/source'],
      ...['/paused', '/keep_logs', '/replica_specs/0/restart_policy'],
      '/replica_specs/*/resources/device/name'
    ].map(field => ({ ...SOME_LOCK, field, reason }));
    const db = new StateDB();
    const model = launchModel(server, { db });
    await model.open();
    await model.moveTo('kubeflow');
    await drawLaunch(model, db, someActions(), editors);
    for (const group of ['Lifecycle', 'Code', 'Size']) {
      const button = screen
        .getByText(group, { selector: 'h3 > button > span' })
        .closest('button');
      if (button?.getAttribute('aria-expanded') === 'false') {
        await act(async () => fireEvent.click(button));
      }
    }
    const locked = (element: HTMLElement): string | undefined =>
      (element.getAttribute('aria-describedby') ?? '')
        .split(' ')
        .map(id => document.getElementById(id)?.textContent ?? '')
        .find(text => text.includes(reason));
    const before = JSON.stringify(model.spec);
    for (const name of [
      ...['Name of variable 1', 'Value of A', 'Name of label 1'],
      ...['Value of team', 'Working directory', 'GPUs']
    ]) {
      const field = screen.getByLabelText<HTMLInputElement>(name);
      expect([name, field.readOnly, field.disabled]).toEqual([
        name,
        true,
        false
      ]);
      expect(locked(field)).toBeTruthy();
      fireEvent.change(field, { target: { value: 'z' } });
      fireEvent.blur(field);
    }
    const fieldOf = (name: string): HTMLElement => {
      const found = document.querySelector<HTMLElement>(
        `[data-field="${name}"]`
      );
      if (!found) {
        throw new Error(`no field ${name}`);
      }
      return found;
    };
    for (const group of [fieldOf('/source'), fieldOf('/paused')]) {
      expect(group.getAttribute('aria-readonly')).toBe('true');
      expect(locked(group)).toBeTruthy();
      const [first, second] = group.querySelectorAll<HTMLElement>('button');
      fireEvent.click(second);
      fireEvent.keyDown(first, { key: 'ArrowRight' });
    }
    const restart = fieldOf('/replica_specs/0/restart_policy');
    expect(restart.getAttribute('aria-readonly')).toBe('true');
    fireEvent.change(restart, { target: { value: 'Always' } });
    const logs = fieldOf('/keep_logs');
    expect(logs.getAttribute('aria-readonly')).toBe('true');
    fireEvent.click(logs);
    model.setDeviceKind('amd.com/gpu', null);
    await act(async () => undefined);
    expect(JSON.stringify(model.spec)).toBe(before);
    for (const name of ['Remove A', 'Remove team', 'Choose a folder…']) {
      expect(screen.queryByLabelText(name)).toBeNull();
    }
    // other labels and the number of accelerators stay free
    expect(screen.getByLabelText('Remove mine')).toBeTruthy();
    const gpus = screen.getByLabelText<HTMLInputElement>('GPUs on each node');
    expect(gpus.readOnly).toBe(false);
    model.dispose();
  });
});
