/** Reading of the table of runs. */
import { RunTable } from '../api/types';

/** Characters that one task parses: less than 20 ms on a slow machine. */
const PART = 250_000;

/**
 * Read an answer with a table of runs. Each run is a line of its own in the answer, so a long table is read part by
 * part, in tasks of their own.
 *
 * Rejects with `SyntaxError` if the text is no JSON.
 */
export async function readRunTable(text: string): Promise<RunTable> {
  const [begin, end] = [text.indexOf('\n'), text.lastIndexOf('\n')];
  if (end - begin < PART) {
    return JSON.parse(text) as RunTable;
  }
  const table = JSON.parse(text.slice(0, begin) + text.slice(end)) as RunTable;
  for (let at = begin + 1; at < end;) {
    const last = text.lastIndexOf('\n', at + PART);
    const to = last > at ? last : text.indexOf('\n', at);
    const part = text.slice(at, to).replace(/,$/, '');
    table.runs.push(...(JSON.parse(`[${part}]`) as RunTable['runs']));
    at = to + 1;
    await new Promise(resolve => window.setTimeout(resolve));
  }
  return table;
}
