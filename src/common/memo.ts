/** Memoization, and comparison of values by content. */

/**
 * Return a function that computes its value again only when one of its inputs is a different object than in the
 * last call.
 *
 * @param compute - Its result depends only on the values of the object that it takes.
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

/**
 * Return true if two values have the same content. Instances of a class, such as a `Set`, are compared by
 * identity.
 */
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
