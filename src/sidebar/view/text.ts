/** Width of text without a layout: a canvas measures, where there is one. */

const GUESS = 6.2; // px a character of 12 px text, where no canvas measures

let context: CanvasRenderingContext2D | null | undefined;
let font = '';
const widths = new Map<string, number>();

/** Width of a text in px at 12 px of the lab's font. */
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

/** Whether a text needs more than one line of a width in px. */
export function wraps(text: string, width: number): boolean {
  return width > 0 && textWidth(text) > width;
}
