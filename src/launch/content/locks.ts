/** The administrator's locks at the fields of the launch form. */
import { TranslationBundle } from '@jupyterlab/translation';
import { Lock, ScriptOption } from '../../api/types';
import { fieldOf } from './fieldPointers';
import { DEVICE, ILaunchForm, MORE } from './form';

/** Fields of the form for sums over all replica types, and for the kind of the accelerators. */
const OWN_FIELDS: Record<string, string> = {
  '/total_replicas': '/replica_specs/0/replicas',
  '/total_devices': DEVICE,
  [`${DEVICE}/name`]: `${DEVICE}/name`
};

/** Pointer of a label, whose row the form finds by the label's name. */
const LABEL = /^(\/labels|\/scheduling\/node_selector)\/./;

/** Return the locks by the form's fields. Locks of the manifest have no field. */
export function locksByField({
  locks,
  form,
  options
}: {
  locks: readonly Lock[];
  form: ILaunchForm;
  options: readonly ScriptOption[];
}): ReadonlyMap<string, Lock> {
  const found = new Map<string, Lock>();
  for (const lock of locks) {
    const pointer = lock.field.replace(/\/\*(?=\/|$)/g, '/0');
    const field =
      OWN_FIELDS[pointer] ?? fieldOf(`/spec${pointer}`, form, options);
    // The lock of a whole part is found at the part, and at the field that shows errors of the part.
    const part = lock.rule === 'value' ? rowOf(pointer, field) : field;
    for (const at of [field, part]) {
      if (!found.has(at)) {
        found.set(at, lock);
      }
    }
  }
  return found;
}

/** Return the part of the form that a lock covers: the row of a label, else the field of the lock. */
function rowOf(pointer: string, field: string): string {
  return LABEL.test(pointer) ? field.replace(/\/name$/, '') : pointer;
}

/** Return the lock that sets the value of a field or of a part that contains the field; null if there is none. */
export function fixingLock(
  locks: ReadonlyMap<string, Lock>,
  field: string
): Lock | null {
  if (!locks.size) {
    return null;
  }
  const own = field.startsWith('/') ? field : `${MORE}/${field}`; // options are arguments
  for (let at = own; at; at = at.slice(0, at.lastIndexOf('/'))) {
    const lock = locks.get(at);
    if (lock?.rule === 'value' && (at === own || coversPart(lock, at))) {
      return lock;
    }
  }
  return null;
}

/** Return true if a lock is about a whole part of the form, not only about the first field of the part. */
function coversPart({ field }: Lock, part: string): boolean {
  const pointer = field.replace(/\/\*(?=\/|$)/g, '/0');
  return pointer === part || LABEL.test(pointer);
}

/** Return the texts that a lock allows; null if it does not list all of them. */
export function allowedTexts({ rule, values }: Lock): string[] | null {
  const texts = values.filter(
    (value): value is string => typeof value === 'string'
  );
  const isPattern =
    rule === 'allowed' && texts.some(text => text.includes('*'));
  return rule === 'maximum' || isPattern || !texts.length ? null : texts;
}

/** Return the largest number that a lock allows; null if it sets none. */
export function largestNumber(lock: Lock | null): number | null {
  return lock?.rule === 'maximum' &&
    typeof lock.maximum === 'number' &&
    !lock.field.startsWith('/total_')
    ? lock.maximum
    : null;
}

/** Return the sentence that a field shows about its lock. */
export function describeLock(lock: Lock, trans: TranslationBundle): string {
  const { field, rule, reason, maximum } = lock;
  if (rule === 'value') {
    return trans.__('Locked by the administrator: “%1”', reason);
  }
  if (rule === 'allowed') {
    return trans.__('The administrator allows certain values: “%1”', reason);
  }
  return field.startsWith('/total_')
    ? trans.__('At most %1 in total (administrator: “%2”)', maximum, reason)
    : trans.__('At most %1 (administrator: “%2”)', maximum, reason);
}
