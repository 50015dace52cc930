/** Settings of charts that are kept over a reload. */
import { IStateDB } from '@jupyterlab/statedb';
import { ILook } from './drawing';

/** Settings of the charts of a page. */
export interface IKeptLook extends ILook {
  asTable: boolean;
}

/** Return kept settings. Values that are invalid are replaced by defaults. */
export async function loadLook(
  db: IStateDB | null,
  key: string,
  smoothing: number
): Promise<IKeptLook> {
  const kept = await db
    ?.fetch(key)
    .catch(error => console.warn('t9kjob: settings of charts:', error));
  const known = (kept ?? {}) as Record<string, unknown>;
  return {
    x: (['step', 'epoch', 'time'] as const).find(x => x === known.x) ?? 'step',
    smoothing:
      typeof known.smoothing === 'number' &&
      known.smoothing >= 0 &&
      known.smoothing < 1
        ? known.smoothing
        : smoothing,
    log: known.log !== false,
    asTable: known.asTable === true
  };
}

/** Keep the settings. */
export function saveLook(
  db: IStateDB | null,
  key: string,
  look: IKeptLook
): void {
  void db?.save(key, { ...look });
}
