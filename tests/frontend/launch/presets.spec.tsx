import { StateDB } from '@jupyterlab/statedb';
import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import { Lock, Preset } from '../../../src/api/types';
import { ownRepository } from '../../../src/launch/code/repository';
import { allowedTexts } from '../../../src/launch/content/locks';
import { LaunchModel } from '../../../src/launch/model/launch';
import { someEditors } from '../editors';
import { json } from '../fakes';
import {
  LaunchServer,
  launchModel,
  somePrefill,
  someSpec
} from '../launchFakes';
import { drawLaunch, layOut, someActions } from '../launchView';

const editors = someEditors();

function somePreset(changes: Partial<Preset>): Preset {
  return {
    ...{ id: 'x', name: 'Big', source: 'own', args: null, engines: [] },
    values: { '/replica_specs/0/replicas': 4, '/scheduling/queue': 'q' },
    ...changes
  };
}

function someLock(changes: Partial<Lock>): Lock {
  return {
    ...{ field: '/run_policy/active_deadline_seconds', rule: 'value' },
    ...{
      values: [3600],
      maximum: null,
      reason: 'Long <b>jobs</b>',
      engines: []
    },
    ...changes
  } as Lock;
}

describe('the menu “Start from”', () => {
  let server: LaunchServer;
  let model: LaunchModel;
  let db: StateDB;

  beforeAll(() => layOut(1200));

  beforeEach(() => {
    server = new LaunchServer();
    db = new StateDB();
  });

  afterEach(() => model.dispose());

  const open = async (
    options: Parameters<typeof launchModel>[1] = {}
  ): Promise<void> => {
    model = launchModel(server, { db, ...options });
    await model.open();
    await act(() => model.presets.load());
    await drawLaunch(model, db, someActions(), editors);
  };
  const openMenu = async (): Promise<void> => {
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: /^Start from/ }));
    });
  };
  const items = (): string[] =>
    screen
      .queryAllByRole('menuitemradio')
      .map(({ textContent }) => textContent ?? '');

  it('applies a preset, says what did not fit, and takes it back', async () => {
    server.presets.presets = [
      somePreset({}),
      somePreset({ id: 'y', name: '<i>Team</i>', source: 'administrator' })
    ];
    server.presets.problems = [
      {
        ...{ source: 'own', message: 'No JSON.', name: null },
        ...{ path: '/home/presets.json', line: 3 }
      }
    ];
    server.applied = {
      spec: someSpec({ keep_logs: false, args: [] }),
      notes: [
        {
          ...{ level: 'warning', code: 'PresetValue', message: 'No field /x.' },
          ...{ hint: null, field: '/spec/x', option: null, line: null },
          ...{ column: null, link: null, fix: null }
        }
      ]
    };
    await open();
    const { values } = model.form;
    await openMenu();
    expect(items()).toEqual([
      '✓DefaultsWhat the script and the lab say',
      'Big4 nodes · queue q',
      'Presets can’t be read.No JSON. /home/presets.json:3',
      '<i>Team</i>4 nodes · queue q'
    ]);
    await act(async () => {
      fireEvent.click(screen.getByRole('menuitemradio', { name: /^Big/ }));
    });
    await waitFor(() => expect(model.state.applied?.name).toBe('Big'));
    expect(model.spec.keep_logs).toBe(false);
    expect(model.form.values).toEqual(values);
    expect(screen.getByText('“Big” was applied, except:')).toBeTruthy();
    expect(screen.getByText(/No field \/x\./)).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Undo' }));
    expect(model.spec.keep_logs).toBe(true);
    expect(screen.queryByText('“Big” was applied, except:')).toBeNull();
  });

  it('offers no Undo after an edit, and keeps the name of the preset', async () => {
    await open();
    await act(() => model.applyPreset('Big', somePreset({})));
    expect(screen.getByRole('button', { name: 'Undo' })).toBeTruthy();
    await act(async () => model.edit({ keep_logs: false }, '/keep_logs'));
    expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull();
    model.undoPreset();
    expect(model.spec.keep_logs).toBe(false);
    fireEvent.click(screen.getByRole('button', { name: 'Dismiss' }));
    expect(screen.queryByText('“Big” was applied.')).toBeNull();
    expect(
      screen.getByRole('button', { name: /^Start from Big/ })
    ).toBeTruthy();
  });

  it('takes back several presets at once, but not one that the user kept', async () => {
    await open();
    const before = model.spec;
    const apply = async (name: string, replicas: number): Promise<void> => {
      const spec = model.spec;
      const [group] = spec.replica_specs;
      server.applied = {
        spec: { ...spec, replica_specs: [{ ...group, replicas }] },
        notes: []
      };
      await act(() => model.applyPreset(name, somePreset({})));
    };
    await apply('Big', 4);
    await apply('Bigger', 8);
    act(() => model.undoPreset());
    expect(model.spec).toEqual(before);
    await apply('Big', 4);
    act(() => model.keepPreset());
    await apply('Bigger', 8);
    act(() => model.undoPreset());
    expect(model.spec.replica_specs[0].replicas).toBe(4);
  });

  it('renames once, not after Escape, and asks before it deletes', async () => {
    server.presets.presets = [somePreset({})];
    server.savedPreset = () => json(somePreset({ name: 'New' }));
    await open();
    const manage = async (): Promise<HTMLElement> => {
      await openMenu();
      fireEvent.click(
        screen.getByRole('menuitem', { name: 'Manage presets…' })
      );
      const field = screen.getByLabelText('Name of preset Big');
      field.focus();
      fireEvent.change(field, { target: { value: 'New' } });
      return field;
    };
    const renames = (): number =>
      server.requests.filter(({ url }) => url.endsWith('/launch/presets/x'))
        .length;
    fireEvent.keyDown(await manage(), { key: 'Escape' });
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(renames()).toBe(0);
    const field = await manage();
    await act(async () => {
      fireEvent.keyDown(field, { key: 'Enter' });
      fireEvent.blur(field);
    });
    expect(renames()).toBe(1);
    fireEvent.click(screen.getByRole('button', { name: 'Delete preset Big' }));
    expect(document.activeElement?.textContent).toBe('Delete');
    expect(renames()).toBe(1);
  });

  it('takes over the options that the script has', async () => {
    server.presets.presets = [
      somePreset({ values: {}, args: ['--lr', '0.5', '--other', '1'] })
    ];
    await open();
    await act(() => model.applyPreset('Big', server.presets.presets[0]));
    expect(model.form.values).toMatchObject({ '--lr': '0.5' });
    expect(model.spec.args).not.toContain('--other');
    expect(screen.getByText(/--other/)).toBeTruthy();
  });

  it('saves the chosen values, and overwrites only when asked', async () => {
    await open();
    await act(async () => model.setMore('--mine 1'));
    await openMenu();
    fireEvent.click(screen.getByRole('menuitem', { name: 'Save as preset…' }));
    fireEvent.change(
      screen.getByLabelText('Name', { selector: '[id$=preset-name]' }),
      {
        target: { value: ' Mine ' }
      }
    );
    fireEvent.click(screen.getByLabelText('Options of the script'));
    server.savedPreset = () =>
      json({ message: 'There is one.', code: 'PresetExists' }, 409);
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    });
    expect((await screen.findByRole('alert')).textContent).toContain(
      'There is one.'
    );
    server.savedPreset = () => json(somePreset({ name: 'Mine' }), 201);
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Overwrite' }));
    });
    const [first, second] = server.requests.filter(
      ({ url, method }) => method === 'POST' && url.endsWith('/launch/presets')
    );
    expect(first.body).toMatchObject({ name: 'Mine', replace: false });
    const { values, args, replace } = second.body as {
      values: object;
      args: string[];
      replace: boolean;
    };
    expect(replace).toBe(true);
    expect(Object.keys(values)).toContain('/replica_specs/0/resources');
    expect(Object.keys(values)).not.toContain('/entrypoint');
    // the log directory has the name of this job
    expect(args).not.toContain('--log_dir');
    // only the script's own options can be applied to another job
    expect(args).not.toContain('--mine');
  });

  it('shows locks, and lets nobody edit a fixed field', async () => {
    server.presets.locks = [
      someLock({}),
      someLock({ field: '/total_replicas', rule: 'maximum', maximum: 3 })
    ];
    await open();
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: /^Lifecycle/ }));
    });
    const deadline = screen.getByLabelText<HTMLInputElement>('Deadline');
    expect(deadline.readOnly).toBe(true);
    const note = 'Locked by the administrator: “Long <b>jobs</b>”';
    const described = deadline.getAttribute('aria-describedby') ?? '';
    expect(
      described
        .split(' ')
        .map(id => document.getElementById(id)?.textContent)
        .join('')
    ).toContain(note);
    const before = model.spec.run_policy;
    fireEvent.change(deadline, { target: { value: '5h' } });
    expect(model.spec.run_policy).toEqual(before);
    expect(screen.getByText(/^At most 3 in total/)).toBeTruthy();
    expect(screen.getAllByText('1 field locked').length).toBeGreaterThan(0);
    const { answer } = server;
    server.answer = request =>
      request.url.includes('/launch/presets')
        ? json({ message: 'Busy.' }, 500)
        : answer(request);
    await act(() => model.presets.load());
    expect(model.presets.failure?.message).toBe('Busy.');
    expect(model.locks.size).toBe(2);
  });

  it('lists the allowed values only if they are all', () => {
    const rule = 'allowed';
    expect(allowedTexts(someLock({ rule, values: ['a', 'b'] }))).toEqual([
      'a',
      'b'
    ]);
    expect(allowedTexts(someLock({ rule, values: ['a', 'b*'] }))).toBeNull();
  });

  it('shows what differs from the cloned job, and sets it back', async () => {
    const spec = someSpec({ keep_logs: true });
    const clone = { id: 'j', name: 'train-1', spec, engine: 'local' };
    await open({ clone: { ...clone, namespace: '' } });
    await waitFor(() => expect(model.state.start).toBe('job'));
    expect(model.differences).toEqual([]);
    const [lr] = model.scriptOptions.filter(({ flags }) =>
      flags.includes('--lr')
    );
    await act(async () => {
      model.setOption(lr, '0.7');
      model.editReplicas({ replicas: 3 }, '/replica_specs/0/replicas');
    });
    expect(model.differences).toEqual(['/replica_specs/0/replicas', '--lr']);
    expect(screen.getByText('2 fields differ from train-1:')).toBeTruthy();
    expect(
      screen.getByRole('button', { name: /^Start from train-1, changed/ })
    ).toBeTruthy();
    fireEvent.click(
      screen.getByRole('button', { name: 'Restore Nodes of the cloned job' })
    );
    expect(document.activeElement).toBe(screen.getByLabelText('Nodes'));
    fireEvent.click(
      screen.getByRole('button', { name: 'Restore --lr of the cloned job' })
    );
    expect(model.differences).toEqual([]);
  });

  it('compares with the job as a form describes it, and restores its parts', async () => {
    const own = somePrefill().spec.args;
    const source = {
      ...ownRepository(null),
      address: 'https://git.test/a.git',
      path: '/jobs/train-1/code'
    };
    const spec = someSpec({
      args: ['--epochs', '5', ...own],
      source,
      shm: null
    });
    const clone = { id: 'j', name: 'train-1', spec, engine: 'local' };
    await open({ clone: { ...clone, namespace: '' } });
    await waitFor(() => expect(model.state.start).toBe('job'));
    expect(model.differences).toEqual([]);
    await act(async () => {
      model.edit({ shm: { size_limit: null, volume: null } }, '/shm');
      model.edit({ elastic: { min: 1, max: 2, expected: 2 } }, '/elastic/min');
      await model.setEntrypoint('command', 'make');
    });
    expect(model.differences).toEqual([
      '/entrypoint/value',
      '/shm/size_limit',
      '/elastic/min',
      '/elastic/max'
    ]);
    await act(async () => {
      model.differences.forEach(field => model.resetField(field));
    });
    expect(model.spec).toMatchObject({
      entrypoint: spec.entrypoint,
      working_dir: spec.working_dir,
      shm: null,
      elastic: null
    });
    expect(model.differences).toEqual([]);
  });
});
