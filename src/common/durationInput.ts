/** Parser and formatter for durations in input fields. */

const UNITS: Record<string, number> = { d: 86400, h: 3600, m: 60, s: 1 };

/**
 * Return the seconds of a duration such as “12h”, “90 min” or “1h 30m”; null if the text is invalid or the
 * duration is zero.
 */
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

/** Return a duration in the form that `parseSpan` reads: “12h”, “1h 30m”. */
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
