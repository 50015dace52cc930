/** Values that are kept while nothing has changed, so that what depends on them is neither computed nor drawn again. */

/**
 * Return a function that computes again only when one of its inputs is another object than at the last call.
 *
 * @param compute - Depends on nothing but the values of the object that it takes.
 */
export function memoized<Inputs extends object, Value>(
  compute: (inputs: Inputs) => Value
): (inputs: Inputs) => Value {
  let last: { inputs: Inputs; value: Value } | null = null;
  return inputs => {
    const names = Object.keys(inputs) as (keyof Inputs)[];
    if (!last || names.some(name => inputs[name] !== last?.inputs[name])) {
      last = { inputs, value: compute(inputs) };
    }
    return last.value;
  };
}

/** Whether two values have the same content. Objects of a class, a `Set` for example, are compared by identity. */
export function isEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) {
    return true;
  }
  if (Array.isArray(one) && Array.isArray(other)) {
    return (
      one.length === other.length &&
      one.every((item, index) => isEqual(item, other[index]))
    );
  }
  if (!isPlain(one) || !isPlain(other)) {
    return false;
  }
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every(key => key in other && isEqual(one[key], other[key]))
  );
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.getPrototypeOf(value) === Object.prototype
  );
}
