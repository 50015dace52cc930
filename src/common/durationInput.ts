/** Spans of time as people type them. */

const UNITS: Record<string, number> = { d: 86400, h: 3600, m: 60, s: 1 };

/** The seconds of “12h”, “90 min”, “1h 30m”; null if it is not such a span, or none at all. */
export function parseSpan(text: string): number | null {
  const whole =
    /^\s*(\d+(\.\d+)?\s*(d|days?|h|hours?|hrs?|m|min|minutes?|s|sec|seconds?)\s*)+$/i;
  if (!whole.test(text)) {
    return null;
  }
  let seconds = 0;
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)\s*([a-z])/gi)) {
    seconds += Number(count) * UNITS[unit.toLowerCase()];
  }
  return Math.round(seconds) || null;
}

/** A span as it is typed: “12h”, “1h 30m”. */
export function formatSpan(seconds: number): string {
  const parts: string[] = [];
  let rest = seconds;
  for (const [unit, size] of Object.entries(UNITS)) {
    const count = Math.floor(rest / size);
    rest %= size;
    if (count) {
      parts.push(`${count}${unit}`);
    }
  }
  return parts.join(' ');
}
