import { act, fireEvent, render, screen } from '@testing-library/react';
import * as React from 'react';
import { useWindow } from '../../../src/common/grid/useWindow';
import { sliceOf } from '../../../src/common/grid/windowing';
import { WindowedTable } from '../../../src/ui/table/WindowedTable';

describe('sliceOf', () => {
  const drawn =
    (first: number, last: number) =>
    (row: number): boolean =>
      first <= row && row < last;

  it.each([
    ['a jump: the upper visible rows', drawn(0, 0), [100, 110]],
    ['downwards: the rows below the drawn ones', drawn(80, 112), [90, 122]],
    ['upwards: the rows above the drawn ones', drawn(118, 150), [108, 140]],
    ['the rest: the rows below and above', drawn(100, 136), [94, 140]],
    ['all rows are drawn', drawn(0, 200), [90, 140]]
  ])('%s', (_, isDrawn, part) => {
    expect(sliceOf([90, 140], [100, 130], isDrawn, 10)).toEqual(part);
  });

  it('draws no new row without a budget', () => {
    const wanted: [number, number] = [90, 140];
    const seen: [number, number] = [100, 130];
    expect(sliceOf(wanted, seen, drawn(0, 0), 0)).toEqual([100, 100]);
    expect(sliceOf(wanted, seen, drawn(95, 105), 0)).toEqual([95, 105]);
  });
});

describe('useWindow', () => {
  const ROW = 20;
  let frames: Map<number, () => void>;

  beforeEach(() => {
    frames = new Map();
    let next = 0;
    jest.spyOn(window, 'requestAnimationFrame').mockImplementation(callback => {
      frames.set(++next, () => callback(0));
      return next;
    });
    jest
      .spyOn(window, 'cancelAnimationFrame')
      .mockImplementation(frame => void frames.delete(frame));
    jest
      .spyOn(HTMLElement.prototype, 'clientHeight', 'get')
      .mockReturnValue(30 * ROW);
  });

  afterEach(() => jest.restoreAllMocks());

  const nextFrame = (): void => {
    const due = [...frames.values()];
    frames.clear();
    act(() => due.forEach(callback => callback()));
  };

  function List({ rows }: { rows: readonly string[] }): React.JSX.Element {
    const heights = rows.map(() => ROW);
    const { ref, range, onScroll } = useWindow(rows, heights);
    return (
      <div ref={ref} onScroll={onScroll}>
        {rows.slice(...range).map(row => (
          <p key={row}>{row}</p>
        ))}
      </div>
    );
  }

  it('draws six new rows for a frame, the visible ones first, however often it renders', () => {
    const rows = Array.from({ length: 1000 }, (_, index) => `row ${index}`);
    const { container, rerender } = render(<List rows={rows} />);
    const shown = (): string[] =>
      [...container.querySelectorAll('p')].map(row => row.textContent ?? '');
    const all = (): string[] => {
      while (frames.size > 0) {
        nextFrame();
      }
      return shown();
    };
    expect(shown()).toEqual(rows.slice(0, 8));
    rerender(<List rows={[...rows]} />);
    expect(shown()).toEqual(rows.slice(0, 8));
    nextFrame();
    expect(shown()).toEqual(rows.slice(0, 14));
    expect(all()).toEqual(rows.slice(0, 41));

    const list = container.firstElementChild as HTMLElement;
    list.scrollTop = 500 * ROW;
    act(() => void list.dispatchEvent(new Event('scroll', { bubbles: true })));
    expect(shown()).toEqual(rows.slice(500, 506));
    nextFrame();
    expect(shown()).toEqual(rows.slice(500, 512));
    expect(all()).toEqual(rows.slice(490, 541));
  });

  it('moves the focus to a row by its letter, which is drawn some frames later', () => {
    const rows = [
      ...Array.from({ length: 500 }, (_, index) => `a${index}`),
      ...Array.from({ length: 25 }, (_, index) => `b${index}`),
      'z'
    ];
    render(
      <WindowedTable
        label="Rows"
        className=""
        role="grid"
        rows={rows}
        keys={rows}
        heights={rows.map(() => ROW)}
        head={null}
        renderRow={(row, index) => (
          <tr key={row} data-index={index}>
            <td />
            <td>
              <button>{row}</button>
            </td>
          </tr>
        )}
        rowKeys={{
          commands: '',
          nameOf: index => rows[index],
          actionOf: () => undefined
        }}
      />
    );
    const first = screen.getByRole('button', { name: 'a0' });
    first.focus();
    fireEvent.keyDown(first, { key: 'z' });
    nextFrame();
    fireEvent.scroll(screen.getByRole('grid').parentElement as HTMLElement);
    while (frames.size > 0) {
      nextFrame();
    }
    expect(document.activeElement?.textContent).toBe('z');
  });
});
