/** Texts of a job's manifests: removal of the parts that only the cluster writes, and comparison. */

/**
 * Largest product of two texts' numbers of changed lines for which the texts are compared, as the comparison
 * needs this much memory.
 */
const MOST_PAIRS = 9_000_000;

/** First lines of the parts that only the cluster writes: the status, and the managers of fields. */
const SERVER_PARTS = [/^status:/, /^ {2}managedFields:/];

/**
 * Remove the parts that only the cluster writes from a manifest.
 *
 * @param text - YAML with the server's indentation.
 */
export function withoutServerParts(text: string): string {
  const kept: string[] = [];
  let part: number | null = null;
  for (const line of text.split('\n')) {
    const indent = line.search(/\S/);
    if (part !== null && (indent < 0 || isInside(line, indent, part))) {
      continue;
    }
    part = SERVER_PARTS.some(head => head.test(line)) ? indent : null;
    if (part === null) {
      kept.push(line);
    }
  }
  return `${kept.join('\n').trimEnd()}\n`;
}

/**
 * Return true if a line belongs to the value of a key: it has more indentation, or is an item of a list with
 * the indentation of the key.
 *
 * @param line - The line.
 * @param indent - Indentation of the line.
 * @param key - Indentation of the key.
 */
function isInside(line: string, indent: number, key: number): boolean {
  return indent > key || (indent === key && line.startsWith('- ', indent));
}

/** Numbers of the lines, from 1, that only one of two texts contains. */
export interface IDifference {
  before: number[];
  after: number[];
}

/** Compare two texts line by line. Returns null if the texts are too long. */
export function compareLines(
  before: string,
  after: string
): IDifference | null {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) {
    start++;
  }
  let [endA, endB] = [a.length, b.length];
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA--;
    endB--;
  }
  const [m, n] = [endA - start, endB - start];
  if (m * n > MOST_PAIRS) {
    return null;
  }
  // `common[i * width + j]` is the length of the longest common subsequence of the lines from `i` of one text
  // and from `j` of the other.
  const width = n + 1;
  const common = new Uint32Array((m + 1) * width);
  for (let i = m - 1; i >= 0; i--) {
    for (let j = n - 1; j >= 0; j--) {
      common[i * width + j] =
        a[start + i] === b[start + j]
          ? common[(i + 1) * width + j + 1] + 1
          : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const found: IDifference = { before: [], after: [] };
  let [i, j] = [0, 0];
  while (i < m || j < n) {
    if (i < m && j < n && a[start + i] === b[start + j]) {
      i++;
      j++;
    } else if (
      j >= n ||
      (i < m && common[(i + 1) * width + j] >= common[i * width + j + 1])
    ) {
      found.before.push(start + i++ + 1);
    } else {
      found.after.push(start + j++ + 1);
    }
  }
  return found;
}
