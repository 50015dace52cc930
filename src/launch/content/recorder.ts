/** The recorder's folder in the variable PYTHONPATH of a form. */
import { EnvVar } from '../../api/types';

const VARIABLE = 'PYTHONPATH';

/** Return true if the variables have the recorder's folder on Python's path. */
export function hasRecorder(env: readonly EnvVar[], folder: string): boolean {
  return env.some(
    row => row.name === VARIABLE && entries(row).includes(folder)
  );
}

/**
 * Return variables with or without the recorder's folder on Python's path.
 *
 * @param env - The form's variables. A value from a secret is kept.
 * @param folder - The folder.
 * @param wanted - True to add the folder.
 */
export function withRecorder(
  env: readonly EnvVar[],
  folder: string,
  wanted: boolean
): EnvVar[] {
  const given = env.find(row => row.name === VARIABLE);
  if (given?.secret) {
    return [...env];
  }
  const kept = given ? entries(given).filter(entry => entry !== folder) : [];
  const value = [...kept, ...(wanted ? [folder] : [])].join(':');
  if (!given) {
    return value ? [...env, { name: VARIABLE, value, secret: null }] : [...env];
  }
  return env.flatMap(row =>
    row !== given ? [row] : value ? [{ ...row, value }] : []
  );
}

function entries(row: EnvVar): string[] {
  return (row.value ?? '').split(':').filter(entry => entry);
}
