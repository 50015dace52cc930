/** What a user has changed of one version, put into another. */
import {
  JSONExt,
  ReadonlyJSONObject,
  ReadonlyJSONValue
} from '@lumino/coreutils';

/**
 * `theirs` with what was changed from `base` to `mine`; a list counts as one value.
 *
 * @param theirs - The version that is wanted where nothing was changed.
 */
export function merge<T>(theirs: T, base: T, mine: T): T {
  return merged(
    theirs as ReadonlyJSONValue,
    base as ReadonlyJSONValue,
    mine as ReadonlyJSONValue
  ) as T;
}

function merged(
  theirs: ReadonlyJSONValue,
  base: ReadonlyJSONValue,
  mine: ReadonlyJSONValue
): ReadonlyJSONValue {
  if (same(base, mine)) {
    return theirs;
  }
  if (!(isObject(theirs) && isObject(base) && isObject(mine))) {
    return mine;
  }
  const keys = new Set([...Object.keys(theirs), ...Object.keys(mine)]);
  const entries = [...keys].flatMap(key => {
    const removed = key in base && !(key in mine);
    const untouched = same(base[key], mine[key]);
    if (removed || (untouched && !(key in theirs))) {
      return [];
    }
    return [[key, merged(theirs[key], base[key], mine[key])] as const];
  });
  return Object.fromEntries(entries);
}

function isObject(
  value: ReadonlyJSONValue | undefined
): value is ReadonlyJSONObject {
  return value !== undefined && JSONExt.isObject(value);
}

function same(
  one: ReadonlyJSONValue | undefined,
  other: ReadonlyJSONValue | undefined
): boolean {
  return one === undefined || other === undefined
    ? one === other
    : JSONExt.deepEqual(one, other);
}
