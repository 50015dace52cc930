/** The form's group “Notebook”: the cells that run, and the install step. */
import { checkIcon, editIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import {
  NOTEBOOK_CELLS_OPTION,
  NOTEBOOK_INSTALL_OPTION
} from '../../api/constants';
import { NotebookCell, NotebookInfo } from '../../api/types';
import { useWindow } from '../../common/grid/useWindow';
import { LinkButton } from '../../ui/Buttons';
import { Icon } from '../../ui/Icon';
import { warningIcon } from '../../ui/icons';
import { cellsValue, runningCells } from '../content/notebookCells';
import { useLaunch, useModel } from '../parts/context';
import { Group, IFolding } from '../parts/groups/Group';
import { FieldErrors, useField } from '../parts/Row';

/** Height of a cell's row in px; the style sheet has the same number. */
const ROW = 26;

/** Properties of the parts of the group. */
interface INotebookProps {
  notebook: NotebookInfo;
}

/** Group “Notebook”. */
export function NotebookGroup({
  notebook,
  folding
}: INotebookProps & { folding: IFolding }): React.JSX.Element {
  const { trans } = useLaunch();
  const count = useRunning(notebook).size;
  const { cells, script_path } = notebook;
  return (
    <Group
      name="notebook"
      title={trans.__('Notebook')}
      summary={() => trans.__('%1 of %2 code cells run', count, cells.length)}
      folding={folding}
    >
      <CellsHead notebook={notebook} />
      {cells.length > 0 && <CellList notebook={notebook} />}
      <FieldErrors field={NOTEBOOK_CELLS_OPTION} />
      {notebook.installs.length > 0 && <InstallStep notebook={notebook} />}
      <p className="jp-t9k-Launch-note jp-t9k-caption">
        {trans.__('At submission, the script is written to')}{' '}
        <code>{script_path}</code>
      </p>
    </Group>
  );
}

/** Return the keys of the cells that run. */
function useRunning({ cells }: NotebookInfo): ReadonlySet<string> {
  const chosen = useModel(({ form }) => form.values[NOTEBOOK_CELLS_OPTION]);
  return React.useMemo(() => {
    const running = runningCells(cells, chosen ?? null);
    return new Set(cells.map(({ key }) => key).filter(key => running.has(key)));
  }, [cells, chosen]);
}

/** Return a function that changes which cells run; null stands for the notebook's own choice. */
function useChoice({
  cells
}: NotebookInfo): (running: ReadonlySet<string> | null) => void {
  const { model } = useLaunch();
  return running => {
    const option = model.scriptOptions.find(({ flags }) =>
      flags.includes(NOTEBOOK_CELLS_OPTION)
    );
    if (option) {
      const value = running && cellsValue(cells, running);
      model.setOption(option, value === option.default ? null : value);
    }
  };
}

/** Numbers of cells, and buttons that choose many cells at once. */
function CellsHead({ notebook }: INotebookProps): React.JSX.Element {
  const { trans } = useLaunch();
  const running = useRunning(notebook);
  const choose = useChoice(notebook);
  const isChosen = useModel(({ form }) => NOTEBOOK_CELLS_OPTION in form.values);
  const { cells, text_cells } = notebook;
  const changed = cells.filter(
    ({ key, mark }) => mark === 'changed' && running.has(key)
  ).length;
  return (
    <div className="jp-t9k-Launch-cellsHead">
      <span>
        <b>
          {trans._n(
            '%2 of %1 code cell runs',
            '%2 of %1 code cells run',
            cells.length,
            running.size
          )}
        </b>{' '}
        <span className="jp-t9k-caption">
          {changed > 0 &&
            trans._n('%1 is changed.', '%1 are changed.', changed)}{' '}
          {text_cells > 0 &&
            trans._n(
              '%1 text cell is left out.',
              '%1 text cells are left out.',
              text_cells
            )}
        </span>
      </span>
      {isChosen && (
        <LinkButton onClick={() => choose(null)}>
          {trans.__('Reset the choice of cells')}
        </LinkButton>
      )}
    </div>
  );
}

/** One row per code cell. Arrow keys move between rows, Space changes a row, Enter opens the cell. */
function CellList({ notebook }: INotebookProps): React.JSX.Element {
  const { trans, prefix, actions } = useLaunch();
  const field = useField(NOTEBOOK_CELLS_OPTION);
  const path = useModel(({ state }) => state.path);
  const running = useRunning(notebook);
  const choose = useChoice(notebook);
  const [at, setAt] = React.useState(0);
  const { cells } = notebook;
  const keys = React.useMemo(() => cells.map(({ key }) => key), [cells]);
  const heights = React.useMemo(() => cells.map(() => ROW), [cells]);
  const { ref, range, offsets, onScroll, reveal } = useWindow(keys, heights);
  const current = Math.min(at, cells.length - 1);
  const rowId = (index: number) => `${prefix}cell-${cells[index].number}`;

  const toggle = (index: number): void => {
    const next = new Set(running);
    const { key } = cells[index];
    if (!next.delete(key)) {
      next.add(key);
    }
    choose(next);
  };
  const open = ({ number }: NotebookCell): void => {
    if (path !== null) {
      actions.openFile(path, 1, number);
    }
  };
  const show = (index: number): void => {
    setAt(index);
    reveal(index);
    document
      .getElementById(`${prefix}script-cell-${cells[index].number}`)
      ?.scrollIntoView({ block: 'nearest' });
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const to = {
      ArrowDown: Math.min(current + 1, cells.length - 1),
      ArrowUp: Math.max(current - 1, 0),
      Home: 0,
      End: cells.length - 1
    }[event.key];
    if (to !== undefined) {
      show(to);
    } else if (event.key === ' ') {
      toggle(current);
    } else if (event.key === 'Enter') {
      open(cells[current]);
    } else {
      return;
    }
    event.preventDefault();
  };
  return (
    <div
      {...field}
      ref={ref}
      className="jp-t9k-Launch-cells"
      role="listbox"
      tabIndex={0}
      aria-multiselectable
      aria-label={trans.__('Code cells')}
      aria-activedescendant={rowId(current)}
      onKeyDown={onKeyDown}
      onScroll={onScroll}
    >
      <div style={{ height: offsets[cells.length] }}>
        <div style={{ transform: `translateY(${offsets[range[0]]}px)` }}>
          {cells.slice(...range).map((cell, i) => {
            const index = range[0] + i;
            return (
              <CellRow
                key={cell.key}
                id={rowId(index)}
                cell={cell}
                runs={running.has(cell.key)}
                isCurrent={index === current}
                onToggle={() => {
                  show(index);
                  toggle(index);
                }}
                onShow={() => show(index)}
                onOpen={() => open(cell)}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** Properties of the row of a cell. */
interface ICellRowProps {
  id: string;
  cell: NotebookCell;
  runs: boolean;
  isCurrent: boolean;
  onToggle(): void;
  onShow(): void;
  onOpen(): void;
}

function CellRow({
  id,
  cell,
  runs,
  isCurrent,
  onToggle,
  onShow,
  onOpen
}: ICellRowProps): React.JSX.Element {
  const { trans } = useLaunch();
  const { number, text, lines, mark, note } = cell;
  const icons = {
    same: checkIcon,
    changed: editIcon,
    question: warningIcon,
    left_out: null
  };
  const icon = runs ? (icons[mark] ?? checkIcon) : null;
  const result = runs
    ? mark === 'left_out'
      ? ''
      : (note ?? '')
    : mark === 'left_out'
      ? (note ?? '')
      : trans.__('Left out');
  return (
    <div
      id={id}
      role="option"
      aria-selected={runs}
      className="jp-t9k-Launch-cell"
      data-current={isCurrent || undefined}
      data-mark={runs ? mark : 'left_out'}
      onClick={onShow}
      onDoubleClick={onOpen}
    >
      <span
        className="jp-t9k-Launch-cellBox"
        title={runs ? trans.__('Leave it out') : trans.__('Run it')}
        aria-hidden
        onClick={onToggle}
      >
        {runs && <Icon of={checkIcon} />}
      </span>
      <span className="jp-t9k-caption">{number}</span>
      <code title={text}>{text}</code>
      <span>{icon && <Icon of={icon} />}</span>
      <span className="jp-t9k-caption" title={result}>
        {result || trans._n('%1 line', '%1 lines', lines)}
      </span>
    </div>
  );
}

/** The notebook's `pip install` commands, and a checkbox that leaves them out. */
function InstallStep({ notebook }: INotebookProps): React.JSX.Element {
  const { model, trans } = useLaunch();
  const field = useField(NOTEBOOK_INSTALL_OPTION);
  const installs = useModel(
    ({ form }) => form.values[NOTEBOOK_INSTALL_OPTION] !== false
  );
  return (
    <div className="jp-t9k-Launch-install">
      <label className="jp-t9k-Launch-check">
        <input
          type="checkbox"
          {...field}
          checked={installs}
          onChange={event => {
            const option = model.scriptOptions.find(({ flags }) =>
              flags.includes(NOTEBOOK_INSTALL_OPTION)
            );
            if (option) {
              model.setOption(option, event.target.checked ? null : false);
            }
          }}
        />
        {trans.__('Install step')}
      </label>
      <span>
        {notebook.installs.map(command => (
          <code key={command}>{command}</code>
        ))}
      </span>
      <span id={`${field.id}-caption`} className="jp-t9k-caption">
        {installs
          ? trans.__('once on each node, where it stands in the notebook')
          : trans.__('left out')}
      </span>
      <FieldErrors field={NOTEBOOK_INSTALL_OPTION} />
    </div>
  );
}
