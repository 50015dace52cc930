/**
 * Parser of log lines with terminal control sequences: colours become styles, links become URLs, and all
 * other control sequences become visible symbols, so that the output of a job can't harm the page.
 */
import { LogLine } from '../../api/types';

/** Style of a run of characters. */
export interface IAnsiStyle {
  /** 0 to 15 for the theme's colours, or a CSS colour. */
  readonly foreground?: number | string;
  readonly background?: number | string;
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly strike?: boolean;
  readonly inverse?: boolean;
  /** True for the symbol that stands for a control character or sequence. */
  readonly control?: boolean;
}

/** Characters `start` to `end` (excluded) of the text have a style. */
export interface IAnsiRun {
  readonly start: number;
  readonly end: number;
  readonly style: IAnsiStyle;
}

/** Characters `start` to `end` (excluded) of the text are a link (OSC 8). */
export interface IAnsiLink {
  readonly start: number;
  readonly end: number;
  /** URL with the scheme http, https or file. */
  readonly url: string;
}

/** Text as the page shows it, with its styles and links. */
export interface IAnsiText {
  readonly text: string;
  readonly runs: readonly IAnsiRun[];
  readonly links: readonly IAnsiLink[];
}

/* eslint-disable no-control-regex, no-misleading-character-class -- this is about control characters and joiners */

// A CSI sequence, an OSC sequence, another escape, a control character, or an invisible character. Characters
// that are invisible or turn the reading direction could make a line look like another one. Joiners are part
// of words and emoji, but not next to ASCII characters.
const SPECIAL =
  /\x1b\[([0-9:;<=>?]*)[ -/]*([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0a-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0]|[\u{e0000}-\u{e007f}]|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])/gu;

// Lines without any of these characters, which are most lines, are not parsed.
const PLAIN =
  /^[^\x00-\x08\x0a-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\u200c\u200d\u{e0000}-\u{e007f}]*$/u;

/**
 * Convert a line's text to text, styles and links.
 *
 * Sequences that only erase (`ESC [ K`) are dropped, as a log has nothing to erase.
 */
export function parseAnsi(source: string): IAnsiText {
  if (PLAIN.test(source)) {
    return { text: source, runs: [], links: [] };
  }
  const runs: IAnsiRun[] = [];
  const links: IAnsiLink[] = [];
  let link: { start: number; url: string } | null = null;
  const endLink = (): void => {
    if (link && link.start < text.length) {
      links.push({ ...link, end: text.length });
    }
    link = null;
  };
  let style: IAnsiStyle = {};
  let text = '';
  let from = 0;
  const add = (piece: string, of: IAnsiStyle) => {
    if (piece && Object.values(of).some(value => value !== undefined)) {
      runs.push({
        start: text.length,
        end: text.length + piece.length,
        style: of
      });
    }
    text += piece;
  };
  for (const match of source.matchAll(SPECIAL)) {
    const at = match.index ?? 0;
    add(source.slice(from, at), style);
    from = at + match[0].length;
    const [sequence, parameters, final] = match;
    const target = LINK.exec(sequence);
    if (target) {
      endLink();
      const url = safeUrl(target[1]);
      link = url === null ? null : { start: text.length, url };
    } else if (final === 'm') {
      style = select(style, parameters);
    } else if (final !== 'K') {
      add(visible(sequence), { control: true });
    }
  }
  add(source.slice(from), style);
  endLink();
  return { text, runs, links };
}

// The start of a link or, without a URL, its end:
// https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda
const LINK = /^\x1b\]8;[^;]*;([^\x07\x1b]*)(?:\x07|\x1b\\)$/;

/**
 * Return a link's URL. Returns null for schemes that lead to neither a page nor a file, such as
 * `javascript:`.
 */
function safeUrl(address: string): string | null {
  try {
    const { protocol, href } = new URL(address);
    return ['http:', 'https:', 'file:'].includes(protocol) ? href : null;
  } catch {
    return null;
  }
}

/** Start of a control sequence whose end has not been written or sent yet. */
const UNFINISHED = /\x1b(?:\[[0-9:;<=>?]*[ -/]*|\][^\x07\x1b]*)?$/;

/** Parse a line. A control sequence without an end is dropped from lines that are incomplete. */
export function parseLine({
  text,
  partial,
  cut
}: Pick<LogLine, 'text' | 'partial' | 'cut'>): IAnsiText {
  return parseAnsi(partial || cut ? text.replace(UNFINISHED, '') : text);
}

/** Replace control characters by their symbols (NUL by ␀, ESC by ␛) or by their code points. */
function visible(sequence: string): string {
  return sequence.replace(
    /[\x00-\x1f\x7f-\x9f\u200c\u200d\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\u{e0000}-\u{e007f}]/gu,
    character => {
      const code = character.codePointAt(0) ?? 0;
      if (code < 0x20) {
        return String.fromCharCode(0x2400 + code);
      }
      return code === 0x7f
        ? '␡'
        : `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
    }
  );
}

/**
 * Return the colours of a run: numbers for the theme's colours, `text` and `base` for the page's text and
 * background, or CSS colours.
 *
 * The theme's colours are readable on the page's background, but not on each other. So text on a theme colour
 * has the colour of the page's background.
 */
export function shownColors({
  foreground,
  background,
  inverse
}: IAnsiStyle): Pick<IAnsiStyle, 'foreground' | 'background'> {
  if (inverse) {
    [foreground, background] = [background ?? 'base', foreground ?? 'text'];
  }
  if (typeof background === 'number' && typeof foreground !== 'string') {
    foreground = 'base';
  }
  return { foreground, background };
}

type MutableStyle = { -readonly [K in keyof IAnsiStyle]: IAnsiStyle[K] };

/** Apply the parameters of an SGR sequence (ECMA-48 §8.3.117, and ITU T.416 for colours). */
function select(style: IAnsiStyle, parameters: string): IAnsiStyle {
  const codes = parameters
    .replace(/([34]8):2:\d*:(\d+:\d+:\d+)/g, '$1:2:$2') // T.416's colour space
    .split(/[;:]/)
    .map(code => (code === '' ? 0 : Number(code)));
  let next: MutableStyle = { ...style };
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i];
    if (code === 0) {
      next = {};
    } else if (code === 38 || code === 48) {
      const [color, used] = extendedColor(codes.slice(i + 1));
      i += used;
      next[code === 38 ? 'foreground' : 'background'] = color;
    } else if (code >= 30 && code <= 37) {
      next.foreground = code - 30;
    } else if (code >= 90 && code <= 97) {
      next.foreground = code - 82;
    } else if (code >= 40 && code <= 47) {
      next.background = code - 40;
    } else if (code >= 100 && code <= 107) {
      next.background = code - 92;
    } else {
      attribute(next, code);
    }
  }
  return next;
}

const ATTRIBUTES = {
  1: 'bold',
  2: 'dim',
  3: 'italic',
  4: 'underline',
  7: 'inverse',
  9: 'strike'
} as const;

/** Apply an SGR code that sets or resets an attribute, or resets a colour. */
function attribute(style: MutableStyle, code: number): void {
  if (code in ATTRIBUTES) {
    style[ATTRIBUTES[code as keyof typeof ATTRIBUTES]] = true;
  } else if (code === 22) {
    style.bold = style.dim = undefined;
  } else if (code === 39) {
    style.foreground = undefined;
  } else if (code === 49) {
    style.background = undefined;
  } else if (code - 20 in ATTRIBUTES) {
    style[ATTRIBUTES[(code - 20) as keyof typeof ATTRIBUTES]] = undefined;
  }
}

/** Parse `5;n` or `2;r;g;b`. Returns the colour and the number of codes that were read. */
function extendedColor(codes: number[]): [number | string | undefined, number] {
  if (codes[0] === 5) {
    return [paletteColor(codes[1]), 2];
  }
  if (codes[0] === 2) {
    const parts = codes.slice(1, 4);
    const valid = parts.length === 3 && parts.every(part => part <= 255);
    return [valid ? `rgb(${parts.join(', ')})` : undefined, 4];
  }
  return [undefined, codes.length];
}

/** Return a colour of xterm's palette: 16 theme colours, a cube of 6 × 6 × 6, and 24 greys. */
function paletteColor(code: number | undefined): number | string | undefined {
  if (code === undefined || !(code >= 0 && code <= 255)) {
    return undefined;
  }
  if (code < 16) {
    return code;
  }
  if (code >= 232) {
    const grey = 8 + (code - 232) * 10;
    return `rgb(${grey}, ${grey}, ${grey})`;
  }
  const cube = code - 16;
  const levels = [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6];
  return `rgb(${levels.map(level => (level ? 55 + level * 40 : 0)).join(', ')})`;
}
