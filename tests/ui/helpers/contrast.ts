import type { Page } from '@playwright/test';

/** A text whose colour is too near to what is behind it. */
export interface ILowContrast {
  text: string;
  /** Of the element, as CSS would select it. */
  place: string;
  ratio: number;
}

export interface IContrast {
  /** Texts that were measured. */
  count: number;
  lowest: number;
  tooLow: ILowContrast[];
}

/**
 * Measure the contrast of every text of our widgets that is in view, as WCAG defines it.
 *
 * Disabled controls are left out, as WCAG leaves them out. A placeholder and the value of a field are texts.
 *
 * @param least - What is less is too low.
 */
export async function measureContrast(
  page: Page,
  least = 4.5
): Promise<IContrast> {
  return await page.evaluate(limit => {
    type Color = [number, number, number, number];

    // A canvas knows every notation of a colour.
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = 1;
    const context = canvas.getContext('2d', {
      willReadFrequently: true
    }) as CanvasRenderingContext2D;
    const known = new Map<string, Color>();
    const parse = (css: string): Color => {
      let color = known.get(css);
      if (!color) {
        context.clearRect(0, 0, 1, 1);
        context.fillStyle = css;
        context.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
        color = [r, g, b, a / 255];
        known.set(css, color);
      }
      return color;
    };
    const over = (top: Color, below: Color): Color => {
      const mix = (i: number) => top[i] * top[3] + below[i] * (1 - top[3]);
      return [mix(0), mix(1), mix(2), 1];
    };
    const luminance = (color: Color): number => {
      const [r, g, b] = color.slice(0, 3).map(value => {
        const part = value / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element: Element | null): Color => {
      if (!element) {
        return [255, 255, 255, 1];
      }
      const color = parse(getComputedStyle(element).backgroundColor);
      return color[3] === 1
        ? color
        : over(color, behind(element.parentElement));
    };
    const ratioOf = (element: Element, css: string): number => {
      let opacity = 1;
      for (let at: Element | null = element; at; at = at.parentElement) {
        opacity *= Number(getComputedStyle(at).opacity);
      }
      const below = behind(element);
      const [r, g, b, a] = parse(css);
      const [one, other] = [over([r, g, b, a * opacity], below), below].map(
        luminance
      );
      return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    };
    const isShown = (element: Element, box: DOMRect): boolean =>
      box.width > 1 &&
      box.height > 1 &&
      element.checkVisibility({ visibilityProperty: true }) &&
      !element.closest(
        '.jp-t9k-visuallyHidden, .xterm-accessibility, [aria-hidden="true"] svg'
      );
    const isDisabled = (element: Element): boolean =>
      element.closest(':disabled, [aria-disabled="true"]') !== null;

    const result: IContrast = { count: 0, lowest: Infinity, tooLow: [] };
    const measure = (element: Element, text: string, css: string): void => {
      const ratio = ratioOf(element, css);
      result.count += 1;
      result.lowest = Math.min(result.lowest, ratio);
      if (ratio < limit) {
        const place = [element.parentElement, element]
          .map(part => `${part?.localName}.${part?.getAttribute('class')}`)
          .join(' > ');
        result.tooLow.push({ text, place, ratio: Number(ratio.toFixed(2)) });
      }
    };
    for (const view of Array.from(document.querySelectorAll('.jp-t9k-View'))) {
      const walker = document.createTreeWalker(view, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const node = walker.currentNode as Text;
        const element = node.parentElement as Element;
        const range = document.createRange();
        range.selectNodeContents(node);
        const text = node.data.trim();
        if (
          text &&
          isShown(element, range.getBoundingClientRect()) &&
          !isDisabled(element)
        ) {
          measure(element, text, getComputedStyle(element).color);
        }
      }
      for (const field of Array.from(view.querySelectorAll('input'))) {
        if (
          !isShown(field, field.getBoundingClientRect()) ||
          isDisabled(field)
        ) {
          continue;
        }
        if (field.value) {
          measure(field, field.value, getComputedStyle(field).color);
        } else if (field.placeholder) {
          const { color } = getComputedStyle(field, '::placeholder');
          measure(field, field.placeholder, color);
        }
      }
    }
    return result;
  }, least);
}
