/** The administrator's locks at the fields of the launch form. */
import { TranslationBundle } from '@jupyterlab/translation';
import { Lock, ScriptOption } from '../../api/types';
import { fieldOf } from './fieldPointers';
import { ILaunchForm } from './form';

/** Fields of the form for sums over all replica types. */
const TOTALS: Record<string, string> = {
  '/total_replicas': '/replica_specs/0/replicas',
  '/total_devices': '/replica_specs/0/resources/device'
};

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
      TOTALS[lock.field] ?? fieldOf(`/spec${pointer}`, form, options);
    if (!found.has(field)) {
      found.set(field, lock);
    }
  }
  return found;
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
