/** Files that the browser saves: pictures of charts, tables as CSV, reports. */

/** Let the browser save a file. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the address after this task.
  window.setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Let the browser save a text. */
export function saveText(text: string, name: string, type: string): void {
  saveFile(new Blob([text], { type: `${type};charset=utf-8` }), name);
}

/** A line of the legend of a picture. */
export interface IPictureKey {
  label: string;
  colour: string;
  /** Lengths of dashes and gaps in px; empty for a solid line. */
  dash: readonly number[];
}

/**
 * Save a canvas as a PNG picture on the page's background colour.
 *
 * @param canvas - The chart.
 * @param title - Heading of the picture, and the name of its file.
 * @param legend - The lines of the chart, one below the other.
 */
export function savePicture(
  canvas: HTMLCanvasElement,
  title: string,
  legend: readonly IPictureKey[] = []
): void {
  const copy = document.createElement('canvas');
  const [width, height] = [canvas.width, canvas.height];
  const ratio = window.devicePixelRatio || 1;
  const row = 18 * ratio;
  const head = Math.round(24 * ratio + row * legend.length);
  Object.assign(copy, { width, height: height + head });
  const context = copy.getContext('2d');
  if (!context) {
    return;
  }
  const view = canvas.closest('.jp-t9k-View') ?? document.body;
  const style = getComputedStyle(view);
  context.fillStyle = style.backgroundColor;
  context.fillRect(0, 0, width, height + head);
  context.fillStyle = style.color;
  context.font = `600 ${13 * ratio}px ${style.fontFamily}`;
  context.fillText(title, 8 * ratio, 17 * ratio);
  context.font = `${12 * ratio}px ${style.fontFamily}`;
  context.lineWidth = 2 * ratio;
  legend.forEach(({ label, colour, dash }, index) => {
    const y = 34 * ratio + row * index;
    context.strokeStyle = colour;
    context.setLineDash(dash.map(length => length * ratio));
    context.beginPath();
    context.moveTo(8 * ratio, y);
    context.lineTo(32 * ratio, y);
    context.stroke();
    context.fillText(label, 40 * ratio, y + 4 * ratio, width - 48 * ratio);
  });
  context.drawImage(canvas, 0, head);
  copy.toBlob(blob => blob && saveFile(blob, fileName(title, 'png')));
}

/** Return a name for a file: characters that a file system may refuse become hyphens. */
export function fileName(title: string, extension: string): string {
  const name = title.replace(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 100);
  return `${name.replace(/^[.-]+|-+$/g, '') || 'experiment'}.${extension}`;
}

/** Return rows as CSV. A text that a spreadsheet would take for a formula is quoted with an apostrophe. */
export function csvOf(
  rows: readonly (readonly (string | number | boolean | null | undefined)[])[]
): string {
  const cell = (
    value: string | number | boolean | null | undefined
  ): string => {
    const text = value == null ? '' : String(value);
    const safe =
      typeof value === 'string' &&
      /^[=+@\t\r-]/.test(text) &&
      isNaN(Number(text))
        ? `'${text}`
        : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
  };
  return rows.map(row => row.map(cell).join(',') + '\r\n').join('');
}
