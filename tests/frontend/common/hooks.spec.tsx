import { StateDB } from '@jupyterlab/statedb';
import { Signal } from '@lumino/signaling';
import { act, render, renderHook } from '@testing-library/react';
import * as React from 'react';
import { InView, useValue } from '../../../src/common/hooks';
import { useFolding } from '../../../src/launch/parts/groups/useFolding';
import { LaunchStore } from '../../../src/launch/model/store';

describe('useValue', () => {
  it('draws nothing in a tab that is hidden, and what it has missed when it comes into view', () => {
    const changed = new Signal<object, void>({});
    let value = 1;
    const drawn: number[] = [];
    const Drawn = React.memo(() => {
      const now = useValue(changed, () => value);
      drawn.push(now);
      return <>{now}</>;
    });
    const page = (shown: boolean): React.JSX.Element => (
      <InView.Provider value={shown}>
        <Drawn />
      </InView.Provider>
    );
    const { container, rerender } = render(page(true));
    const set = (next: number): void => {
      act(() => {
        value = next;
        changed.emit();
      });
    };
    set(2);
    expect(container.textContent).toBe('2');
    rerender(page(false));
    drawn.length = 0;
    set(3);
    expect(drawn).toEqual([]);
    rerender(page(true));
    expect(container.textContent).toBe('3');
    set(4);
    expect(container.textContent).toBe('4');
  });
});

describe('useFolding', () => {
  it('keeps the groups that were saved when one is opened before these are known', async () => {
    const store = new LaunchStore(new StateDB());
    await store.saveOpenGroups({ data: true, what: false });
    const { result } = renderHook(() => useFolding(store));
    act(() => result.current.toggle('where'));
    await act(async () => {
      await store.openGroups();
    });
    expect(result.current.isOpen('data')).toBe(true);
    expect(result.current.isOpen('where')).toBe(true);
    expect(await store.openGroups()).toEqual({
      data: true,
      what: false,
      where: true
    });
  });
});
