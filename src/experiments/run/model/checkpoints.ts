/** The checkpoint that belongs to a position in the training. */
import { FileEntry } from '../../../api/types';

/** A checkpoint, with the epoch that its name states; null if it states none. */
export interface ICheckpoint extends FileEntry {
  epoch: number | null;
}

/**
 * Return the checkpoint of an epoch, or else the last one that was written before a time; null if there is none.
 *
 * @param files - Checkpoints of the job.
 * @param epoch - The epoch; null if it is not known.
 * @param time - Seconds since the epoch; null if the time is not known.
 */
export function checkpointAt(
  files: readonly FileEntry[],
  epoch: number | null,
  time: number | null
): ICheckpoint | null {
  const all = files.map(file => ({ ...file, epoch: epochOf(file.path) }));
  const named = all.filter(file => epoch !== null && file.epoch === epoch);
  const before = all.filter(
    ({ modified_at: at }) => time !== null && at <= time
  );
  return newest(named) ?? newest(before);
}

function newest(files: readonly ICheckpoint[]): ICheckpoint | null {
  return files.reduce<ICheckpoint | null>(
    (best, file) =>
      best === null || file.modified_at > best.modified_at ? file : best,
    null
  );
}

/** Return the epoch in the name of a file or its folder: `epoch=14`, `epoch_14`. */
function epochOf(path: string): number | null {
  const name = path.split('/').slice(-2).join('/');
  const found = [...name.matchAll(/(?:^|[^a-z])epoch[-_=.]?(\d+)/gi)].pop();
  return found ? Number(found[1]) : null;
}
