/** Measurement of text widths with a canvas, which needs no layout. */

const GUESS = 6.2; // width of a character in px at 12 px, for environments without a canvas

let context: CanvasRenderingContext2D | null | undefined;
let font = '';
const widths = new Map<string, number>();

/** Return the width of a text in px, at a font size of 12 px in JupyterLab's font. */
function textWidth(text: string): number {
  if (context === undefined) {
    context = document.createElement('canvas').getContext('2d');
    const style = getComputedStyle(document.body);
    font = `12px ${style.getPropertyValue('--jp-ui-font-family') || 'sans-serif'}`;
  }
  if (!context) {
    return text.length * GUESS;
  }
  let width = widths.get(text);
  if (width === undefined) {
    context.font = font;
    width = context.measureText(text).width;
    if (widths.size > 20_000) {
      widths.clear();
    }
    widths.set(text, width);
  }
  return width;
}

/**
 * Return true if a text does not fit on a line.
 *
 * @param text - The text.
 * @param width - Width of the line in px; 0 before it is measured.
 */
export function wraps(text: string, width: number): boolean {
  return width > 0 && textWidth(text) > width;
}
