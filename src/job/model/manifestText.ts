/** Two texts of a manifest side by side. */

/** Lines are compared as long as one times the other is at most this. */
const MOST_PAIRS = 9_000_000;

/** What only the cluster writes: a manifest's status, and who manages which fields. */
const SERVER_PARTS = [/^status:/, /^ {2}managedFields:/];

/** A manifest as YAML, as the server writes it, without what only the cluster writes. */
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

/** Whether a line is below a key: deeper, or an item of its list, which may stand at the key's own place. */
function isInside(line: string, indent: number, key: number): boolean {
  return indent > key || (indent === key && line.startsWith('- ', indent));
}

/** Lines, from 1, of two texts that are not in the other one. */
export interface IDifference {
  before: number[];
  after: number[];
}

/** Compare two texts line by line; null where they are too long for that. */
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
  // Lengths of the longest common subsequences of what follows each pair of lines.
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
