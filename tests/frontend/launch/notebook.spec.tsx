import { StateDB } from '@jupyterlab/statedb';
import { act, fireEvent, screen, within } from '@testing-library/react';
import {
  NOTEBOOK_CELLS_OPTION,
  NOTEBOOK_INSTALL_OPTION
} from '../../../src/api/constants';
import { NotebookCell } from '../../../src/api/types';
import { ILaunchActions } from '../../../src/launch/parts/context';
import { LaunchModel } from '../../../src/launch/model/launch';
import {
  launchModel,
  LaunchServer,
  option,
  somePrefill,
  someSpec
} from '../launchFakes';
import { drawLaunch, layOut, someActions } from '../launchView';

function someCell(
  number: number,
  changes: Partial<NotebookCell> = {}
): NotebookCell {
  return {
    ...{ number, key: `c${number}`, text: `x = ${number}`, lines: 2 },
    ...{ runs: true, mark: 'same', note: null, code: `x = ${number}\ny = 2` },
    ...changes
  };
}

const CELLS = [
  someCell(1, { mark: 'changed', note: 'Install step: timm' }),
  someCell(3),
  someCell(4, { runs: false, mark: 'left_out', note: 'Left out: tag skip-job' })
];

describe('the group of a notebook', () => {
  let server: LaunchServer;
  let model: LaunchModel;
  let actions: jest.Mocked<ILaunchActions>;

  beforeAll(() => layOut(1200));

  beforeEach(async () => {
    server = new LaunchServer();
    actions = someActions();
    const { script } = somePrefill();
    server.prefill = somePrefill({
      path: 'mnist/nb.ipynb',
      spec: someSpec({
        entrypoint: { kind: 'notebook', value: '/w/mnist/nb.ipynb' },
        args: []
      }),
      script: {
        ...script,
        options: [
          option('--lr', { kind: 'float', default: '0.1' }),
          option('t9kjob_cells', {
            flags: [NOTEBOOK_CELLS_OPTION],
            default: 'c1,c3'
          }),
          option('t9kjob_install', {
            flags: [NOTEBOOK_INSTALL_OPTION],
            off_flag: '--t9kjob-no-install',
            kind: 'flag',
            default: 'True'
          })
        ]
      },
      notebook: {
        script_path: 'mnist/nb.t9kjob.py',
        cells: CELLS,
        text_cells: 1,
        kernel: 'python3',
        parameters_cell: 3,
        installs: ['pip install timm']
      }
    });
    const db = new StateDB();
    model = launchModel(server, { db, path: 'mnist/nb.ipynb' });
    await model.open();
    await drawLaunch(model, db, actions);
  });

  afterEach(() => model.dispose());

  const list = () => screen.getByRole('listbox', { name: 'Code cells' });
  const chosen = () =>
    within(list())
      .getAllByRole('option', { selected: true })
      .map(row => row.querySelector('code')?.textContent);

  it('lists the cells that run and what becomes of them', () => {
    expect(screen.getByText('2 of 3 code cells run')).toBeTruthy();
    expect(chosen()).toEqual(['x = 1', 'x = 3']);
    expect(list().textContent).toContain('Left out: tag skip-job');
    expect(screen.getByText('mnist/nb.t9kjob.py')).toBeTruthy();
    expect(screen.getByText('Parameters of cell 3')).toBeTruthy();
    expect(screen.queryByLabelText(NOTEBOOK_CELLS_OPTION)).toBeNull();
  });

  it('chooses cells with the keyboard and keeps the choice in the arguments', () => {
    fireEvent.keyDown(list(), { key: 'ArrowDown' });
    fireEvent.keyDown(list(), { key: ' ' });
    fireEvent.keyDown(list(), { key: 'End' });
    fireEvent.keyDown(list(), { key: ' ' });
    expect(chosen()).toEqual(['x = 1', 'x = 4']);
    expect(model.spec.args).toEqual([NOTEBOOK_CELLS_OPTION, 'c1,c4']);
    fireEvent.keyDown(list(), { key: 'Enter' });
    expect(actions.openFile).toHaveBeenCalledWith('mnist/nb.ipynb', 1, 4);
    fireEvent.click(
      screen.getByRole('button', { name: 'Reset the choice of cells' })
    );
    expect(model.spec.args).toEqual([]);
  });

  it('switches the install step off', () => {
    fireEvent.click(screen.getByRole('checkbox', { name: 'Install step' }));
    expect(model.spec.args).toEqual(['--t9kjob-no-install']);
  });

  it('takes the cells that are selected in the notebook', async () => {
    await act(async () => model.chooseCells([{ id: 'c4', number: 9 }]));
    expect(model.spec.args).toEqual([NOTEBOOK_CELLS_OPTION, 'c4']);
  });

  it('applies the fix that leaves a cell out', async () => {
    const label = 'Leave it out';
    const changes = { '/spec/args': [`${NOTEBOOK_CELLS_OPTION}=c1`] };
    await act(async () =>
      model.applyFix({ label, changes }, NOTEBOOK_CELLS_OPTION)
    );
    expect(chosen()).toEqual(['x = 1']);
  });

  it('shows the script with its cells', async () => {
    fireEvent.click(screen.getByRole('radio', { name: 'Script' }));
    const script = screen.getByRole('group', { name: 'Script' });
    expect(script.textContent).toContain('Cell 1');
    expect(script.textContent).not.toContain('Cell 4');
    await act(async () => {
      fireEvent.change(screen.getByLabelText('--lr'), {
        target: { value: '0.5' }
      });
    });
    expect(script.textContent).toContain('--lr 0.5');
  });
});
