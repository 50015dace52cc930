/** Reads the schema of a manifest kind: the field at a path, its type in words, its allowed values. */
import { TranslationBundle } from '@jupyterlab/translation';
import { KindSchema, SchemaNode } from '../../api/types';
import { PathPart } from './position';

/** Return the field at a path; null if the schema does not have it. */
export function nodeAt(
  schema: KindSchema,
  path: readonly PathPart[]
): SchemaNode | null {
  let at: number | null | undefined = schema.root;
  for (const part of path) {
    const node: SchemaNode | undefined = schema.nodes[at];
    at = part === null ? node?.items : (node?.fields[part] ?? node?.values);
    if (at == null) {
      return null;
    }
  }
  return schema.nodes[at] ?? null;
}

/** Return the fields of an object, those that must be there first. */
export function fieldsOf(
  schema: KindSchema,
  node: SchemaNode
): { name: string; node: SchemaNode; isRequired: boolean }[] {
  return Object.entries(node.fields)
    .map(([name, at]) => ({
      name,
      node: schema.nodes[at],
      isRequired: node.required.includes(name)
    }))
    .sort(
      (one, other) =>
        Number(other.isRequired) - Number(one.isRequired) ||
        one.name.localeCompare(other.name)
    );
}

/** Return the values that a field can have; empty if there are too many to list. */
export function valuesOf(node: SchemaNode): string[] {
  return node.types.join() === 'boolean' ? ['true', 'false'] : node.enum;
}

/** Return the type of a field in words; empty for any value. */
export function typeText(node: SchemaNode, trans: TranslationBundle): string {
  if (node.types.length > 1) {
    return trans.__('text or number');
  }
  const names = {
    object: trans.__('object'),
    array: trans.__('list'),
    string: trans.__('text'),
    integer: trans.__('whole number'),
    number: trans.__('number'),
    boolean: trans.__('true or false')
  };
  return node.types.length ? names[node.types[0]] : '';
}

/** Return a path in the usual notation, such as `spec.replicaSpecs[].type`. */
export function pathText(path: readonly PathPart[]): string {
  return path
    .map((part, index) =>
      part === null ? '[]' : index > 0 ? `.${part}` : part
    )
    .join('');
}
