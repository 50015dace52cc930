import { ISignal } from '@lumino/signaling';
import * as React from 'react';
import { restAfter } from './throttle';

/** Return true if the component’s tab is visible; components of a hidden tab do not render again. */
export const InView = React.createContext(true);

function never(): () => void {
  return () => undefined;
}

const tickers = new Set<() => void>();
let timer = 0;

/** One timer serves all ages of the page, and only while there are any and the page is in front. */
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
    tick(); // what has passed while it was hidden
  }
}

/** A text that depends on the time; the component renders again only when the text changes. */
export function useTicking(text: () => string): string {
  const inView = React.useContext(InView);
  return React.useSyncExternalStore(inView ? onTick : never, text);
}

/**
 * What makes the component render again as soon as what runs now has ended.
 *
 * What state does waits for its turn behind what else the page has to do.
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
 * Render again whenever a signal is emitted, in a tab that is in view; one that comes into view renders anyway.
 *
 * @param signal - Null for none at the moment.
 * @param interval - The least time between two renderings in ms, or what tells it; the last change always shows.
 */
export function useSignal<Sender>(
  signal: ISignal<Sender, unknown> | null,
  interval: number | (() => number) = 0
): void {
  const render = useRender();
  const inView = React.useContext(InView);
  // Before the browser paints: what is emitted after that is not missed.
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

/**
 * What can be read of something; the component renders again only when a signal is emitted and it is another,
 * in a tab that is in view.
 */
export function useValue<Sender, Value>(
  changed: ISignal<Sender, unknown>,
  read: () => Value
): Value {
  const inView = React.useContext(InView);
  const subscribe = React.useCallback(
    (listener: () => void) => {
      if (!inView) {
        return never();
      }
      changed.connect(listener);
      return () => {
        changed.disconnect(listener);
      };
    },
    [changed, inView]
  );
  return React.useSyncExternalStore(subscribe, read);
}

/**
 * Render again whenever a signal is emitted, less often where that takes long.
 *
 * @param longest - The most time between a change and its rendering, but for what that takes, in ms.
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
 * The same items, each of which changes no more often than once in an interval.
 *
 * What changed too early is what it was, and the component renders again when it may be what it is.
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

/** The same array as before, as long as it has the same elements. */
export function useSame<Item>(items: readonly Item[]): readonly Item[] {
  const known = React.useRef(items);
  const { current } = known;
  if (
    current.length !== items.length ||
    current.some((item, index) => item !== items[index])
  ) {
    known.current = items;
  }
  return known.current;
}

/** True once `condition` has held for `delay` ms without a break. */
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

/** The width of an element in px, by ResizeObserver; 0 before the first measure. */
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

/** Whether an element is seen: its widget is shown, it is not scrolled away, and the page is in front. */
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
