/** Hook that keeps the footer's buttons clear of JupyterLab's notifications. */
import * as React from 'react';

/** Width in px of the notifications at the right edge of the page: 320 and the margins. */
const NOTIFICATIONS = 352;

/** Width in px of the footer's buttons, with space for translations. */
const BUTTONS = 240;

/**
 * Return the position of the form's footer.
 *
 * JupyterLab shows notifications in the lower right corner of the page. The buttons are at the left end of the footer.
 * If this end is in the corner as well, the footer is above the fields.
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
    // Moving a tab to an area of the same size triggers no resize.
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
