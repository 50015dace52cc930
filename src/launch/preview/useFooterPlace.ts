import * as React from 'react';

/** Width (px) at the right edge of the page that the lab's notifications lie over: 320 and their margins. */
const NOTIFICATIONS = 352;

/** Width (px) at the left edge of a form that the buttons of its footer need, also in longer languages. */
const BUTTONS = 240;

/**
 * Where the footer of a form keeps its buttons out of the corner in which the lab shows its notifications.
 *
 * The buttons are at the left end of the footer. Where even that end is in the corner, the footer is above the fields.
 */
export function useFooterPlace(
  form: React.RefObject<HTMLElement>
): 'top' | 'bottom' {
  const [place, setPlace] = React.useState<'top' | 'bottom'>('bottom');
  React.useLayoutEffect(() => {
    const element = form.current;
    if (!element) {
      return;
    }
    const measure = (): void => {
      const { left, width, bottom } = element.getBoundingClientRect();
      if (width > 0) {
        const isAtRight = left + BUTTONS > window.innerWidth - NOTIFICATIONS;
        const isLow = bottom > window.innerHeight / 3;
        setPlace(isAtRight && isLow ? 'top' : 'bottom');
      }
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    window.addEventListener('resize', measure);
    // A tab can be moved to a place of the same size.
    element.addEventListener('pointerenter', measure);
    element.addEventListener('focusin', measure);
    return () => {
      observer.disconnect();
      window.removeEventListener('resize', measure);
      element.removeEventListener('pointerenter', measure);
      element.removeEventListener('focusin', measure);
    };
  }, [form]);
  return place;
}
