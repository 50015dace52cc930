import { StateDB } from '@jupyterlab/statedb';
import {
  act,
  fireEvent,
  screen,
  waitFor,
  within
} from '@testing-library/react';
import * as React from 'react';
import { Machine } from '../../../src/api/types';
import { ILaunchActions } from '../../../src/launch/parts/context';
import { ILaunchFormHandle } from '../../../src/launch/form/LaunchForm';
import { LaunchModel } from '../../../src/launch/model/launch';
import { someEditors } from '../editors';
import { someCheck } from '../clusterFakes';
import { json } from '../fakes';
import { launchModel, LaunchServer, option, somePrefill } from '../launchFakes';
import { drawLaunch, layOut, someActions } from '../launchView';

const GIB = 2 ** 30;
const editors = someEditors();

describe('the launch form', () => {
  let server: LaunchServer;
  let model: LaunchModel;
  let actions: jest.Mocked<ILaunchActions>;
  const handle = React.createRef<ILaunchFormHandle>();

  beforeAll(() => {
    layOut(1200);
  });

  beforeEach(() => {
    server = new LaunchServer();
    actions = someActions();
  });

  afterEach(() => model.dispose());

  const open = async (): Promise<void> => {
    const db = new StateDB();
    model = launchModel(server, { db });
    await model.open();
    await drawLaunch(model, db, actions, editors, handle);
  };
  const field = (name: string): HTMLInputElement =>
    screen.getByLabelText<HTMLInputElement>(name, { exact: true });
  const type = (name: string, text: string): void => {
    fireEvent.change(field(name), { target: { value: text } });
  };
  const submit = (): HTMLElement =>
    screen.getByRole('button', { name: 'Submit' });
  const described = (name: string): string =>
    (field(name).getAttribute('aria-describedby') ?? '')
      .split(' ')
      .map(id => document.getElementById(id)?.textContent ?? '')
      .join(' ');

  it('has its footer behind the fields and before the preview, for the keyboard', async () => {
    await open();
    const order = [
      field('Working directory'),
      submit(),
      screen.getByRole('button', { name: 'Dry run' }),
      screen.getByRole('button', { name: 'Copy' })
    ];
    const all = [...document.querySelectorAll('input, button')];
    const places = order.map(element => all.indexOf(element));
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  it('says that it has the arguments of last time, which can be undone', async () => {
    const db = new StateDB();
    const first = launchModel(server, { db });
    await first.open();
    first.setOption(option('--epochs'), '42');
    await first.submit();
    first.dispose();
    model = launchModel(server, { db, tab: 'next' });
    await model.open();
    await drawLaunch(model, db, actions, editors, handle);
    expect(
      screen.getByText(/^Filled in as last time \(.*\), with its arguments:$/)
    ).toBeTruthy();
    expect(screen.getByText(/^--epochs 42 /)).toBeTruthy();
    await act(async () => {
      fireEvent.click(screen.getByText('Use the defaults'));
    });
    await waitFor(() => expect(field('--epochs').value).toBe('5'));
    expect(screen.queryByText(/^Filled in as last time/)).toBeNull();
  });

  it('speaks of torchrun agents only if torchrun starts the processes', async () => {
    await open();
    await act(async () => model.editReplicas({ replicas: 2 }, '/replicas'));
    expect(screen.getByText(/^2 torchrun agents on this machine/)).toBeTruthy();
    await act(async () => model.edit({ torchrun: null }, '/torchrun'));
    expect(screen.queryByText(/torchrun agents/)).toBeNull();
  });

  it('says in its footer what it waits for, and submits nothing', async () => {
    await open();
    const { answer } = server;
    let go = (): void => undefined;
    const gone = new Promise<void>(resolve => (go = resolve));
    server.answer = async request => {
      await gone;
      return answer(request);
    };
    let started = Promise.resolve();
    act(() => {
      started = model.startFrom('defaults');
    });
    expect(submit().getAttribute('aria-disabled')).toBe('true');
    expect(screen.getByText('Filling in the form…')).toBeTruthy();
    fireEvent.click(submit());
    act(() => handle.current?.submit());
    expect(actions.submit).not.toHaveBeenCalled();
    await act(async () => {
      go();
      await started;
    });
    act(() => handle.current?.submit());
    expect(actions.submit).toHaveBeenCalledTimes(1);
  });

  it('is filled in and ready to submit', async () => {
    await open();
    expect(field('Name').value).toBe('train-1');
    expect(field('Entrypoint').value).toBe('mnist/train.py');
    expect(field('Working directory').value).toBe('mnist');
    expect(field('--epochs').value).toBe('5');
    expect(described('Kernel')).toContain(
      '/opt/python 3.12.1 · torch 2.6.0 (CPU)'
    );
    expect(
      screen.getByText(
        '8 CPU cores, 6.0 GiB memory free, no GPU on this machine'
      )
    ).toBeTruthy();
    expect(screen.getByText('2 processes on this machine')).toBeTruthy();
    expect(submit().getAttribute('aria-disabled')).toBeNull();
    fireEvent.click(submit());
    expect(actions.submit).toHaveBeenCalledTimes(1);
  });

  it('says what a dry run has checked', async () => {
    await open();
    await act(() => model.dryRun());
    const sentence =
      'The server made the same checks as for a submission and started nothing.';
    expect(screen.getByText(new RegExp(sentence))).toBeTruthy();
  });

  it('tells who uses the GPUs that are not free', async () => {
    const machine = server.prefill.engines[0].machine as Machine;
    const device = { name: 'NVIDIA H200', uuid: null, memory_total: 80 * GIB };
    machine.devices = [
      {
        ...device,
        index: 0,
        id: '0',
        memory_used: 12 * GIB,
        claimed_by: null,
        used_by: 'a notebook kernel: eda.ipynb'
      },
      {
        ...device,
        index: 1,
        id: '1',
        memory_used: 0,
        claimed_by: null,
        used_by: null
      }
    ];
    machine.devices_problem = 'The GPU driver does not answer.';
    await open();
    expect(screen.getByText('of 2 on this machine, 1 free')).toBeTruthy();
    const used = within(screen.getByLabelText('GPUs that are in use'));
    expect(used.getAllByRole('listitem').map(row => row.textContent)).toEqual([
      'GPU 0 a notebook kernel: eda.ipynb (12.0 GiB of 80.0 GiB in use)'
    ]);
    expect(screen.getByText('The GPU driver does not answer.')).toBeTruthy();
  });

  it('shows a kernel that can’t be used, with the reason', async () => {
    await open();
    const choice = within(field('Kernel')).getByText<HTMLOptionElement>(
      'R – It is not a Python.'
    );
    expect(choice.disabled).toBe(true);
  });

  it('marks changed options, tells the default, and sets them back', async () => {
    await open();
    expect(described('--epochs')).not.toContain('changed');
    type('--epochs', '10');
    expect(described('--epochs')).toContain('changed, default 5');
    expect(screen.getByText('6 found, 3 changed')).toBeTruthy();
    fireEvent.click(screen.getByLabelText('Changed only'));
    expect(screen.queryByLabelText('--lr')).toBeNull();
    fireEvent.click(
      screen.getByRole('button', {
        name: 'Set --epochs back to its default (5)'
      })
    );
    expect(screen.queryByLabelText('--epochs')).toBeNull();
    expect(model.form.values).not.toHaveProperty('--epochs');
  });

  it('counts an option with several values as changed', async () => {
    await open();
    const [lr] = model.scriptOptions.filter(({ flags }) =>
      flags.includes('--lr')
    );
    act(() => model.setValues(lr, '0.1, 0.2'));
    expect(
      screen.getByText('6 found, 3 changed, 1 with several values')
    ).toBeTruthy();
    fireEvent.click(screen.getByLabelText('Changed only'));
    expect(screen.getByRole('group', { name: 'Values of --lr' })).toBeTruthy();
  });

  it('keeps the focus in the form when an option is set back', async () => {
    await open();
    type('--epochs', '10');
    const back = screen.getByRole('button', { name: /^Set --epochs back/ });
    back.focus();
    fireEvent.click(back);
    expect(back.isConnected).toBe(false);
    expect(document.activeElement).toBe(field('--epochs'));
  });

  it('steps whole numbers by button and arrow key', async () => {
    await open();
    fireEvent.keyDown(field('--epochs'), { key: 'ArrowUp' });
    expect(field('--epochs').value).toBe('6');
    fireEvent.keyDown(field('Processes'), { key: 'ArrowDown' });
    fireEvent.keyDown(field('Processes'), { key: 'ArrowDown' });
    expect(model.spec.torchrun?.proc_per_node).toBe(1);
  });

  it('leads from Submit to the first thing that is wrong', async () => {
    await open();
    type('Name', 'My Job');
    type('More arguments', '"open');
    expect(field('Name').getAttribute('aria-invalid')).toBe('true');
    expect(described('Name')).toContain('A name has small letters');
    expect(screen.getByText('2 errors to fix:')).toBeTruthy();
    expect(submit().getAttribute('aria-disabled')).toBe('true');
    fireEvent.click(submit());
    expect(actions.submit).not.toHaveBeenCalled();
    expect(document.activeElement).toBe(field('Name'));
  });

  it('goes to the field that the server refuses, also in a folded group', async () => {
    server.created = () =>
      json(
        {
          message: 'Too long.',
          field: '/spec/run_policy/active_deadline_seconds'
        },
        422
      );
    await open();
    expect(screen.queryByLabelText('Deadline')).toBeNull();
    await act(async () => void (await model.submit()));
    expect(document.activeElement).toBe(field('Deadline'));
    expect(described('Deadline')).toContain('Too long.');
  });

  it('says in the footer what the server refuses without a field', async () => {
    server.created = () =>
      json({ message: 'The disk is full.', hint: 'Make room.' }, 503);
    await open();
    await act(async () => void (await model.submit()));
    expect(screen.getByRole('alert').textContent).toBe(
      'The disk is full. Make room.'
    );
  });

  it('submits by its command, not by Enter in a field', async () => {
    await open();
    fireEvent.keyDown(field('Name'), { key: 'Enter' });
    fireEvent.submit(screen.getByRole('form'));
    expect(actions.submit).not.toHaveBeenCalled();
    act(() => handle.current?.submit());
    expect(actions.submit).toHaveBeenCalledTimes(1);
  });

  it('takes over a typed path with Ctrl+Enter', async () => {
    await open();
    type('Working directory', 'elsewhere');
    expect(model.spec.working_dir).toBe('/w/mnist');
    fireEvent.keyDown(field('Working directory'), {
      key: 'Enter',
      ctrlKey: true
    });
    expect(model.spec.working_dir).toBe('/w/elsewhere');
  });

  it('names what only the user knows, and submits nevertheless', async () => {
    server.prefill = somePrefill({
      script: {
        ...somePrefill().script,
        options: [option('--config', { required: true, default: null })]
      }
    });
    const missing = someCheck({ code: 'OptionMissing', option: '--config' });
    server.previewChanges = { checks: [missing] };
    await open();
    expect(field('--config').placeholder).toBe('needed');
    fireEvent.click(
      within(
        screen.getByText('Still empty:').parentElement as HTMLElement
      ).getByRole('button', { name: '--config' })
    );
    expect(document.activeElement).toBe(field('--config'));
    fireEvent.click(submit());
    expect(actions.submit).toHaveBeenCalledTimes(1);
    type('--config', 'a.yaml');
    expect(screen.queryByText('Still empty:')).toBeNull();
  });

  it('adds a variable that the script reads, and goes to its value', async () => {
    await open();
    fireEvent.click(screen.getByRole('button', { name: 'OMP_NUM_THREADS' }));
    expect(document.activeElement).toBe(field('Value of OMP_NUM_THREADS'));
    type('Value of OMP_NUM_THREADS', '4');
    expect(model.spec.env).toEqual([
      { name: 'OMP_NUM_THREADS', value: '4', secret: null }
    ]);
    fireEvent.click(
      screen.getByRole('button', { name: 'Remove OMP_NUM_THREADS' })
    );
    expect(model.spec.env).toEqual([]);
  });

  it('says how quoted arguments are taken', async () => {
    await open();
    type('More arguments', `--x "a b"`);
    expect(described('More arguments')).toContain('2 arguments:--xa b');
  });

  it('switches torchrun off and on again with what was set', async () => {
    await open();
    type('Processes', '3');
    const box = screen.getByLabelText('Start the processes with torchrun');
    fireEvent.click(box);
    expect(model.spec.torchrun).toBeNull();
    expect(screen.queryByLabelText('Processes')).toBeNull();
    fireEvent.click(box);
    expect(model.spec.torchrun?.proc_per_node).toBe(3);
  });

  it('folds to a summary, and remembers it', async () => {
    await open();
    const group = screen.getByRole('button', { name: /^Size/ });
    expect(group.getAttribute('aria-expanded')).toBe('true');
    fireEvent.click(group);
    expect(group.getAttribute('aria-expanded')).toBe('false');
    expect(group.textContent).toBe('Size2 processes');
    const lifecycle = screen.getByRole('button', { name: /^Lifecycle/ });
    expect(lifecycle.textContent).toBe(
      'LifecycleNo restarts · no deadline · files and logs stay'
    );
  });

  it('lists all checks, worst first, with the way to each', async () => {
    const check = {
      code: 'C',
      option: null,
      line: null,
      column: null,
      hint: null,
      field: null,
      link: null,
      fix: null
    };
    const link = {
      kind: 'file' as const,
      label: 'train.py:73',
      path: 'mnist/train.py',
      line: 73,
      stream: null,
      offset: null,
      cell: null,
      field: null,
      url: null
    };
    server.previewChanges = {
      checks: [
        { ...check, level: 'passed', message: 'Good.' },
        { ...check, level: 'hint', message: 'Look.', link },
        {
          ...check,
          level: 'warning',
          message: 'Hm.',
          field: '/spec/runtime/kernel'
        }
      ]
    };
    await open();
    const checks = screen.getByRole('region', { name: /^Checks/ });
    expect(
      within(checks)
        .getAllByRole('listitem')
        .map(item => item.textContent)
    ).toEqual(['Warning:Hm.Kernel', 'Hint:Look.train.py:73', 'Passed:Good.']);
    fireEvent.click(
      within(checks).getByRole('button', { name: 'train.py:73' })
    );
    expect(actions.openFile).toHaveBeenCalledWith('mnist/train.py', 73, null);
    fireEvent.click(within(checks).getByRole('button', { name: 'Kernel' }));
    expect(document.activeElement).toBe(field('Kernel'));
    expect(described('Kernel')).toContain('Hm.');
  });

  it('makes the change that is offered at a field', async () => {
    const pointer = '/spec/torchrun/proc_per_node';
    const check = {
      level: 'error' as const,
      code: 'TooMany',
      message: 'No node has 16: each has 8.',
      hint: 'Ask for 8 or fewer.',
      field: pointer,
      option: null,
      line: null,
      column: null,
      link: null,
      fix: { label: 'Set 8', changes: { [pointer]: 8, '/spec/a/b': 1 } }
    };
    server.previewChanges = { checks: [check] };
    await open();
    const { torchrun, ...others } = model.spec;
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Set 8' }));
    });
    expect(model.spec).toEqual({
      ...others,
      torchrun: { ...torchrun, proc_per_node: 8 }
    });
    expect(model.state.lastEdited).toBe('/torchrun/proc_per_node');
    expect((document.activeElement as HTMLElement).dataset.field).toBe(
      '/torchrun/proc_per_node'
    );
  });

  it('leaves out the jobs of a sweep that a hint offers to leave out', async () => {
    const fix = {
      label: 'Leave the job out',
      changes: { '/sweep/left_out': [2] }
    };
    const field = '/sweep/left_out';
    server.previewChanges = {
      checks: [someCheck({ level: 'hint', message: 'Tried.', field, fix })]
    };
    await open();
    const { spec } = model;
    await act(async () => {
      fireEvent.click(
        screen.getByRole('button', { name: 'Leave the job out' })
      );
    });
    expect(model.sweep.leftOut).toEqual([2]);
    expect(model.spec).toEqual(spec);
    expect(model.state.lastEdited).toBe(field);
  });

  it('shows where a script can’t be read, and says nothing else of it', async () => {
    const check = {
      level: 'error' as const,
      code: 'SyntaxError',
      message: 'Syntax error in line 4, column 10.',
      hint: null,
      field: '/spec/entrypoint/value',
      option: null,
      line: null,
      column: null,
      link: {
        kind: 'file' as const,
        label: 'train.py:4',
        path: 'mnist/train.py',
        line: 4,
        stream: null,
        offset: null,
        cell: null,
        field: null,
        url: null
      },
      fix: null
    };
    server.previewChanges = { checks: [check] };
    await open();
    expect(described('Entrypoint')).toContain('line 4, column 10.');
    const errors = document.getElementById('t:/entrypoint/value-errors');
    fireEvent.click(
      within(errors as HTMLElement).getByRole('button', { name: 'train.py:4' })
    );
    expect(actions.openFile).toHaveBeenCalledWith('mnist/train.py', 4, null);
    expect(screen.queryByText(/^DDP script/)).toBeNull();
    const footer = screen.getByText('1 error to fix:')
      .parentElement as HTMLElement;
    expect(within(footer).getByRole('button').textContent).toBe('Entrypoint');
    server.previewChanges = { checks: [{ ...check, line: 4, column: 10 }] };
    await act(() => model.preview.refresh());
    const place = within(footer).getByRole('button', { name: 'train.py:4' });
    fireEvent.click(place); // not line 4 of the command or manifest
    expect(actions.openFile).toHaveBeenCalledTimes(2);
  });

  it('says why there is no command', async () => {
    server.previewChanges = { command: '', summary: 'There is no torch.' };
    await open();
    const command = screen.getByRole('group', { name: 'Command' });
    expect(command.textContent).toBe('There is no torch.');
  });

  it('says why there is no form', async () => {
    server.answer = () => new Response('<html>', { status: 404 });
    await open();
    expect(
      screen.getByText('The server part of Distributed Jobs is not running.')
    ).toBeTruthy();
    expect(
      screen.getByText('jupyter server extension enable jupyterlab_t9kjob')
    ).toBeTruthy();
    server.answer = new LaunchServer().answer;
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
    });
    expect(await screen.findByLabelText('Name')).toBeTruthy();
  });
});
