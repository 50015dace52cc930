/** What could not come along is there again where one comes back. */
import {
  JSONExt,
  ReadonlyJSONObject,
  ReadonlyJSONValue
} from '@lumino/coreutils';

/**
 * `next` with what `kept` has for everything that was not changed from `begun` to `now`.
 *
 * Lists count as one value.
 *
 * @param kept - How it was before it went away.
 * @param begun - What it began as where it went.
 * @param now - What became of that.
 * @param next - What `now` becomes where it goes next.
 */
export function restore<T>(kept: T, begun: T, now: T, next: T): T {
  return restored(
    kept as ReadonlyJSONValue,
    begun as ReadonlyJSONValue,
    now as ReadonlyJSONValue,
    next as ReadonlyJSONValue
  ) as T;
}

function restored(
  kept: ReadonlyJSONValue,
  begun: ReadonlyJSONValue,
  now: ReadonlyJSONValue,
  next: ReadonlyJSONValue
): ReadonlyJSONValue {
  if (JSONExt.deepEqual(begun, now)) {
    return kept;
  }
  if (![kept, begun, now, next].every(isObject)) {
    return next;
  }
  const [before, start, end, after] = [
    kept,
    begun,
    now,
    next
  ] as ReadonlyJSONObject[];
  const entries = Object.keys(after).map(key => {
    const known = key in before && key in start && key in end;
    const value = known
      ? restored(before[key], start[key], end[key], after[key])
      : after[key];
    return [key, value];
  });
  return Object.fromEntries(entries);
}

function isObject(value: ReadonlyJSONValue): boolean {
  return JSONExt.isObject(value);
}
