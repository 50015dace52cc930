/** Colours and dashes of lines, from the style sheet of the current theme. */
import * as React from 'react';

/** Number of colours in `style/experiments/charts.css`. */
const COLOURS = 8;

/** Dash patterns in px; every line of a chart has its own, so that colour is not the only signal. */
const DASHES: readonly (readonly number[])[] = [
  [],
  [7, 4],
  [2, 3],
  [8, 3, 2, 3],
  [12, 4],
  [5, 2, 1, 2, 1, 2],
  [3, 6],
  [14, 3, 3, 3]
];

/** Return the dash pattern of a line. */
export function dashOf(style: number): number[] {
  return [...DASHES[style % DASHES.length]];
}

/** Return the name of the CSS variable with the colour of a line. */
export function colourName(style: number): string {
  return `--jp-t9k-curve-${(style % COLOURS) + 1}`;
}

/** Colours of a chart, read from the style sheet because a canvas does not know its variables. */
export interface IColours {
  line(style: number): string;
  text: string;
  secondary: string;
  grid: string;
  background: string;
  font: string;
}

/** Return the colours that apply to an element. */
export function coloursOf(element: Element): IColours {
  const style = getComputedStyle(element);
  const read = (name: string): string => style.getPropertyValue(name).trim();
  return {
    line: number => read(colourName(number)) || style.color,
    text: style.color,
    secondary: read('--jp-ui-font-color2') || style.color,
    grid: read('--jp-border-color2') || style.color,
    background: read('--jp-layout-color1') || 'transparent',
    font: `11px ${style.fontFamily}`
  };
}

/** Return the name of the current theme; the component renders again when the theme changes. */
export function useTheme(): string {
  return React.useSyncExternalStore(
    listener => {
      const observer = new MutationObserver(listener);
      observer.observe(document.body, {
        attributes: true,
        attributeFilter: ['data-jp-theme-name', 'data-jp-theme-light']
      });
      return () => observer.disconnect();
    },
    () => document.body.dataset.jpThemeName ?? ''
  );
}
