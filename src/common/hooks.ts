/** React hooks for signals, time and the size and visibility of elements. */

import { ISignal } from '@lumino/signaling';
import * as React from 'react';
import { restAfter } from './pacing';

/** True if the component's tab is visible. `useTicking`, `useSignal` and `useValue` do not render in a hidden tab. */
export const InView = React.createContext(true);

function never(): () => void {
  return () => undefined;
}

const tickers = new Set<() => void>();
let timer = 0;

/** Call a listener every second. All listeners share a timer, which runs only while the page is visible. */
function onTick(listener: () => void): () => void {
  tickers.add(listener);
  if (tickers.size === 1) {
    document.addEventListener('visibilitychange', setTimer);
    setTimer();
  }
  return () => {
    tickers.delete(listener);
    if (tickers.size === 0) {
      document.removeEventListener('visibilitychange', setTimer);
      window.clearInterval(timer);
    }
  };
}

function setTimer(): void {
  window.clearInterval(timer);
  if (document.visibilityState !== 'hidden') {
    const tick = (): void => tickers.forEach(each => each());
    timer = window.setInterval(tick, 1000);
    tick(); // update the texts that became outdated while the page was hidden
  }
}

/** Return a text that depends on the time. The component renders again only when the text changes. */
export function useTicking(text: () => string): string {
  const inView = React.useContext(InView);
  return React.useSyncExternalStore(inView ? onTick : never, text);
}

/**
 * Return a function that renders the component again as soon as the current task ends.
 *
 * React may defer updates of state, but not updates of an external store.
 */
function useRender(): () => void {
  const [store] = React.useState(() => {
    let version = 0;
    let onChange: (() => void) | null = null;
    return {
      version: () => version,
      render: () => {
        version++;
        onChange?.();
      },
      subscribe: (listener: () => void) => {
        onChange = listener;
        return () => {
          onChange = null;
        };
      }
    };
  });
  React.useSyncExternalStore(store.subscribe, store.version);
  return store.render;
}

/**
 * Render the component again whenever a signal is emitted. A hidden tab does not render until it is shown.
 *
 * @param signal - The signal; null to connect to none.
 * @param interval - The minimum time between two renderings in ms, or a function that returns it. The last
 *   change is always rendered.
 */
export function useSignal<Sender>(
  signal: ISignal<Sender, unknown> | null,
  interval: number | (() => number) = 0
): void {
  const render = useRender();
  const inView = React.useContext(InView);
  // Connect before the browser paints, so that no later emission is missed.
  React.useLayoutEffect(() => {
    if (signal === null || !inView) {
      return undefined;
    }
    let timer = 0;
    let last = -Infinity;
    const now = (): void => {
      timer = 0;
      last = performance.now();
      render();
    };
    const onChange = (): void => {
      const least = typeof interval === 'number' ? interval : interval();
      const wait = last + least - performance.now();
      if (wait <= 0) {
        now();
      } else if (!timer) {
        timer = window.setTimeout(now, wait);
      }
    };
    signal.connect(onChange);
    return () => {
      signal.disconnect(onChange);
      window.clearTimeout(timer);
    };
  }, [signal, interval, render, inView]);
}

/** The listeners of `useValue` by signal. A signal searches its connections whenever one is added. */
const relays = new WeakMap<object, Set<() => void>>();

/** Call a listener whenever a signal is emitted. All listeners of a signal share a connection to it. */
function listen<Sender>(
  signal: ISignal<Sender, unknown>,
  listener: () => void
): () => void {
  let listeners = relays.get(signal);
  if (!listeners) {
    const all = new Set<() => void>();
    // A listener may render components, which adds and removes listeners.
    signal.connect(() =>
      [...all].forEach(each => {
        if (all.has(each)) {
          each();
        }
      })
    );
    relays.set(signal, all);
    listeners = all;
  }
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Return a value that is read again whenever a signal is emitted. The component renders again only when the
 * value is a different object. A hidden tab does not render.
 *
 * @param changed - Emitted when the value may have changed.
 * @param read - Returns the value.
 */
export function useValue<Sender, Value>(
  changed: ISignal<Sender, unknown>,
  read: () => Value
): Value {
  const inView = React.useContext(InView);
  const subscribe = React.useCallback(
    (listener: () => void) => (inView ? listen(changed, listener) : never()),
    [changed, inView]
  );
  return React.useSyncExternalStore(subscribe, read);
}

/**
 * Render the component again whenever a signal is emitted, less often if rendering takes long.
 *
 * @param signal - The signal; null to connect to none.
 * @param longest - The maximum pause between two renderings in ms, in addition to the rendering time.
 */
export function usePacedSignal<Sender>(
  signal: ISignal<Sender, unknown> | null,
  longest: number
): void {
  const begun = performance.now();
  const took = React.useRef(0);
  React.useLayoutEffect(() => {
    took.current = performance.now() - begun;
  });
  const interval = React.useCallback(
    () => took.current + restAfter(took.current, longest),
    [longest]
  );
  useSignal(signal, interval);
}

/**
 * Limit how often each item of a list changes.
 *
 * An item that changes again within the interval keeps its previous value. The component renders again when the
 * interval ends.
 *
 * @param items - The current items.
 * @param interval - The minimum time between two changes of an item in ms.
 */
export function useSteady<Item extends { readonly id: string }>(
  items: readonly Item[],
  interval: number
): readonly Item[] {
  const render = useRender();
  const known = React.useRef(new Map<string, { item: Item; at: number }>());
  const now = performance.now();
  let due = Infinity;
  const shown = items.map(item => {
    const before = known.current.get(item.id);
    if (before && before.item !== item && now < before.at + interval) {
      due = Math.min(due, before.at + interval);
      return before;
    }
    return before?.item === item ? before : { item, at: now };
  });
  known.current = new Map(shown.map(each => [each.item.id, each]));
  React.useEffect(() => {
    if (due < Infinity) {
      const timer = window.setTimeout(render, due - performance.now());
      return () => window.clearTimeout(timer);
    }
    return undefined;
  });
  return shown.map(({ item }) => item);
}

/**
 * Return how many items of a long list are rendered: some at once, the others bit by bit while the page is idle, so that
 * the first ones appear soon and the page stays responsive.
 *
 * @param total - Number of items.
 * @param first - Number of items of the first rendering.
 * @param step - Number of items that are added at a time.
 */
export function useGrowing(total: number, first: number, step: number): number {
  const [count, setCount] = React.useState(0);
  React.useEffect(() => {
    if (count >= total) {
      return undefined;
    }
    const grow = (): void => setCount(Math.max(first, count) + step);
    if (typeof window.requestIdleCallback === 'undefined') {
      const timer = window.setTimeout(grow); // Safari
      return () => window.clearTimeout(timer);
    }
    const idle = window.requestIdleCallback(grow, { timeout: 200 });
    return () => window.cancelIdleCallback(idle);
  }, [count, total, first, step]);
  return Math.min(Math.max(first, count), total);
}

/** Return the array of the previous rendering if it has the same elements. */
export function useSame<Item>(items: readonly Item[]): readonly Item[] {
  const known = React.useRef(items);
  return React.useMemo(() => {
    const { current } = known;
    if (
      current.length !== items.length ||
      current.some((item, index) => item !== items[index])
    ) {
      known.current = items;
    }
    return known.current;
  }, [items]);
}

/** Return true once `condition` has been true for `delay` ms without interruption. */
export function useAfter(condition: boolean, delay: number): boolean {
  const [is, set] = React.useState(false);
  React.useEffect(() => {
    if (!condition) {
      set(false);
      return;
    }
    const timer = window.setTimeout(() => set(true), delay);
    return () => window.clearTimeout(timer);
  }, [condition, delay]);
  return condition && is;
}

/** Return the width of an element in px, measured by a ResizeObserver; 0 before the first measurement. */
export function useWidth(ref: React.RefObject<HTMLElement>): number {
  const [width, setWidth] = React.useState(0);
  React.useLayoutEffect(() => {
    const element = ref.current;
    if (!element) {
      return;
    }
    const observer = new ResizeObserver(([entry]) =>
      setWidth(entry.contentRect.width)
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return width;
}

/**
 * Return true if an element is visible: its widget is shown, it is not scrolled out of view, and the page is
 * visible.
 */
export function useShown(ref: React.RefObject<HTMLElement>): boolean {
  const [inView, setInView] = React.useState(false);
  React.useEffect(() => {
    const element = ref.current;
    if (!element) {
      return;
    }
    const observer = new IntersectionObserver(entries =>
      setInView(entries[entries.length - 1].isIntersecting)
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  const inFront = React.useSyncExternalStore(
    onVisibility,
    () => document.visibilityState !== 'hidden'
  );
  return inView && inFront;
}

function onVisibility(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener);
  return () => document.removeEventListener('visibilitychange', listener);
}
