/** Table of many rows with known heights, of which the document has only those near the visible part. */
import * as React from 'react';
import { handleRowKey, IRowKeys } from '../../common/grid/rowKeys';
import { useGridFocus } from '../../common/grid/useGridFocus';
import { useWindow } from '../../common/grid/useWindow';

interface IWindowedTableProps<Row> {
  label: string;
  className: string;
  role: 'grid' | 'treegrid';
  /** True if several rows can be selected. */
  isMultiselectable?: boolean;
  rows: readonly Row[];
  /** Unique keys of the rows. */
  keys: readonly string[];
  /** Heights of the rows in px. */
  heights: readonly number[];
  /** Widths of the columns in px; null for the column that takes the remaining width. */
  widths?: readonly (number | null)[];
  /** Least width of the table in px. */
  minWidth?: number;
  head: React.ReactNode;
  renderRow(row: Row, index: number): React.ReactNode;
  /** Actions of the keys, besides the navigation between cells. */
  rowKeys?: IRowKeys;
  /** Called with true when the pointer or the focus enters the rows, and with false when both have left them. */
  onHold?(isHeld: boolean): void;
  /** Selector of an element; if it has the focus when the table appears, the table takes the focus. */
  takesFocusOf?: string;
  body?: React.RefObject<HTMLTableSectionElement>;
}

/**
 * A table of many rows.
 *
 * The table is one tab stop, and arrow keys move between cells. The visible rows keep their position on the
 * screen when rows above them are added or removed.
 */
export function WindowedTable<Row>(
  props: IWindowedTableProps<Row>
): React.JSX.Element {
  const { rows, keys, heights, widths, minWidth, rowKeys } = props;
  const focus = useGridFocus();
  const [isPointed, setPointed] = React.useState(false);
  useHold(isPointed || focus.inside === 'body', props.onHold);
  useTakenFocus(focus.props.ref, props.takesFocusOf);
  const list = useWindow(keys, heights);
  const [first, last] = list.range;
  return (
    <div
      className={`jp-t9k-Grid ${props.className}`}
      ref={list.ref}
      onScroll={list.onScroll}
    >
      <table
        className="jp-t9k-Table"
        role={props.role}
        aria-label={props.label}
        aria-rowcount={rows.length + 1}
        aria-multiselectable={props.isMultiselectable}
        style={{ minWidth }}
        {...focus.props}
        onKeyDown={event => {
          if (rowKeys) {
            handleRowKey(event, rowKeys, rows.length, list.reveal);
          }
          if (!event.defaultPrevented) {
            focus.props.onKeyDown(event);
          }
        }}
      >
        {widths && (
          <colgroup>
            {widths.map((width, index) => (
              <col key={index} style={width === null ? undefined : { width }} />
            ))}
          </colgroup>
        )}
        {props.head}
        <tbody
          ref={props.body}
          onPointerEnter={() => setPointed(true)}
          onPointerLeave={() => setPointed(false)}
        >
          <Space height={list.offsets[first]} />
          {rows
            .slice(first, last)
            .map((row, index) => props.renderRow(row, first + index))}
          <Space height={list.offsets[rows.length] - list.offsets[last]} />
        </tbody>
      </table>
    </div>
  );
}

/** Report whether the pointer or the focus is in the rows. A table that is removed reports false. */
function useHold(isHeld: boolean, onHold?: (isHeld: boolean) => void): void {
  const latest = React.useRef(onHold);
  latest.current = onHold;
  React.useLayoutEffect(() => latest.current?.(isHeld), [isHeld]);
  React.useEffect(() => () => latest.current?.(false), []);
}

/** Move the focus to the grid if it was on the given element when the grid appeared. */
function useTakenFocus(
  grid: React.RefObject<HTMLElement>,
  selector: string | undefined
): void {
  React.useEffect(() => {
    if (selector && document.activeElement?.matches(selector)) {
      grid.current?.focus({ preventScroll: true });
    }
  }, [grid, selector]);
}

/** Empty row with the height of the rows that are not in the document. */
function Space({ height }: { height: number }): React.JSX.Element | null {
  return height > 0 ? (
    <tr aria-hidden className="jp-t9k-Table-space">
      <td style={{ height }} />
    </tr>
  ) : null;
}
