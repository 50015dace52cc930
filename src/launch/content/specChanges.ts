/** Applies changes that the server offers to a spec. */
import { JSONExt, PartialJSONObject } from '@lumino/coreutils';
import { Fix, JobSpec } from '../../api/types';

/**
 * Return a copy of a spec with the changes of a fix. Changes whose parent object is missing are ignored.
 *
 * @param changes - New values by JSON pointer.
 */
export function specWith(from: JobSpec, changes: Fix['changes']): JobSpec {
  const spec = JSONExt.deepCopy(from as unknown as PartialJSONObject);
  for (const [pointer, value] of Object.entries(changes)) {
    const keys = pointer.split('/').slice(2); // after “/spec”
    const last = keys.pop();
    const place = keys.reduce<unknown>(
      (at, key) => (at as PartialJSONObject | null | undefined)?.[key],
      spec
    );
    if (last !== undefined && typeof place === 'object' && place !== null) {
      (place as Record<string, unknown>)[last] = value;
    }
  }
  return spec as unknown as JobSpec;
}

/** Return the values of a spec at JSON pointers that begin with `/spec`; null for those that it does not have. */
export function valuesAt(
  spec: JobSpec,
  pointers: readonly string[]
): Record<string, unknown> {
  return Object.fromEntries(
    pointers.map(pointer => [
      pointer,
      pointer
        .split('/')
        .slice(2)
        .reduce<unknown>(
          (at, key) => (at as PartialJSONObject | null | undefined)?.[key],
          spec
        ) ?? null
    ])
  );
}

/**
 * Return true if a field has the same value in two specifications.
 *
 * @param pointer - JSON pointer of the field, as the server names it.
 */
export function isSameField(
  pointer: string,
  before: JobSpec,
  after: JobSpec
): boolean {
  const keys = pointer
    .replace(/^\/spec(?=\/|$)/, '')
    .split('/')
    .slice(1);
  const at = (spec: JobSpec): unknown =>
    keys.reduce<unknown>(
      (value, key) =>
        (value as Record<string, unknown> | null | undefined)?.[key],
      spec
    );
  return JSON.stringify(at(before)) === JSON.stringify(at(after));
}
