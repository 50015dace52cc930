import type { Locator } from '@playwright/test';
import { execFileSync } from 'child_process';
import { mkdirSync, writeFileSync } from 'fs';
import path from 'path';

const ROOT = path.resolve(__dirname, '../../..');

/** The language of the pseudo pack. */
const LOCALE = 'eo';

/** Make the pseudo language pack; the result is what a lab's `PYTHONPATH` has to name. */
export function pseudoPack(): string {
  const folder = path.join(ROOT, 'build/pseudo');
  const python = path.join(process.env.T9KJOB_UI_ENV ?? '', 'bin/python');
  execFileSync(python, [
    path.join(ROOT, '.make/catalogue.py'),
    'pseudo',
    folder
  ]);
  return folder;
}

/** Choose a language in a lab's folder of settings, before it starts; the pseudo language by default. */
export function chooseLanguage(settings: string, locale = LOCALE): void {
  const plugin = path.join(settings, '@jupyterlab/translation-extension');
  mkdirSync(plugin, { recursive: true });
  writeFileSync(
    path.join(plugin, 'plugin.jupyterlab-settings'),
    JSON.stringify({ locale })
  );
}

/** As `Intl` writes times in languages that the browser does not know. */
const DATE = /\b[A-Z]\p{L}{2} \d+, \d{4}, [\d:]+ \w+/gu;

/** Sizes, whose units are the same in all languages. */
const SIZE = /\d (?:[kMGTP]|[KMGT]i)B\b/g;

/** Fields of the API's answers that the server translates. */
const TEXTS = new Set([
  'ended',
  'found',
  'hint',
  'label',
  'limited',
  'message',
  'note',
  'reason',
  'read_only',
  'sentence',
  'stale_hint',
  'stale_reason',
  'summary',
  'waiting'
]);

/** A made-up answer of the server as if it were in the pseudo language. */
export function inPseudo<Answer>(answer: Answer): Answer {
  return JSON.parse(
    JSON.stringify(answer, (key, value) =>
      TEXTS.has(key) && typeof value === 'string' ? `[${value} ·]` : value
    )
  );
}

/** The names, paths and words of other programs in made-up answers of the server. */
export function dataOf(answers: unknown): string[] {
  const found = new Set<string>();
  JSON.stringify(answers, (key, value) => {
    if (typeof value === 'string' && !TEXTS.has(key)) {
      found.add(value).add(key);
      value.split('\n').forEach(line => found.add(line.trim()));
    }
    return value;
  });
  return [...found].filter(word => word.length > 1);
}

/** Return the problems of the texts in a part of the page. */
export interface IShown {
  /** Texts and names of controls that did not go through the translator. */
  missed: string[];
  /** Texts that are cut off, and whose whole cannot be read anywhere. */
  cut: string[];
}

/** Matches any of these words. */
export function anyOf(words: readonly string[]): RegExp {
  const longestFirst = [...words].sort(
    (one, other) => other.length - one.length
  );
  return new RegExp(
    longestFirst
      .map(word => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('|'),
    'gu'
  );
}

/**
 * Find the texts of a part of the page that are not translated, or are cut off.
 *
 * @param data - Texts that are nobody's to translate: names, paths, numbers with units, words of other programs.
 */
export async function shownBy(part: Locator, data: RegExp): Promise<IShown> {
  const shown = await part.evaluate(root => {
    // Words of programs and of the user.
    const verbatim =
      'code, pre, .cm-editor, .jp-t9k-LogRow-text, .jp-t9k-Traceback, iframe, input';
    const visible = (element: Element): boolean =>
      element.checkVisibility({ visibilityProperty: true });
    const texts: string[] = [];
    const cut: string[] = [];
    for (const element of [root, ...Array.from(root.querySelectorAll('*'))]) {
      if (!visible(element)) {
        continue;
      }
      for (const name of ['aria-label', 'title', 'placeholder', 'alt']) {
        const value = element.getAttribute(name);
        if (value) {
          texts.push(value);
        }
      }
      if (element.closest(verbatim)) {
        continue;
      }
      const own = Array.from(element.childNodes)
        .filter(node => node.nodeType === Node.TEXT_NODE)
        .map(node => node.textContent ?? '')
        .join('')
        .trim();
      if (own) {
        texts.push(own);
      }
      const { overflowX, textOverflow } = getComputedStyle(element);
      const isCut =
        own !== '' &&
        overflowX !== 'visible' &&
        overflowX !== 'auto' &&
        element.clientWidth > 1 &&
        element.scrollWidth > element.clientWidth + 1;
      if (
        isCut &&
        !(textOverflow === 'ellipsis' && element.closest('[title]'))
      ) {
        cut.push(own);
      }
    }
    return { texts, cut };
  });
  const missed = shown.texts.filter(text => {
    let rest = text;
    for (let before = ''; before !== rest;) {
      before = rest;
      rest = rest.replace(/\[[^[\]]*·\]/g, '');
    }
    return /\p{L}{2}/u.test(
      rest.replace(DATE, '').replace(SIZE, '').replace(data, '')
    );
  });
  return { missed: [...new Set(missed)], cut: [...new Set(shown.cut)] };
}
