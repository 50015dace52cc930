/** Three-way merge that restores values when a job returns to the engine that it was moved away from. */
import {
  JSONExt,
  ReadonlyJSONObject,
  ReadonlyJSONValue
} from '@lumino/coreutils';

/**
 * Return `next`, with the values of `kept` for everything that did not change from `begun` to `now`.
 *
 * A list is compared and replaced as a whole.
 *
 * @param kept - The values when the job was moved away from the first engine.
 * @param begun - The values right after the move to the second engine.
 * @param now - The current values.
 * @param next - The current values, converted for the first engine.
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
