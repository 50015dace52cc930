/** Files of an artifact as rows of a tree. */
import { ArtifactFile } from '../../api/types';

/** A file or a folder. */
export interface IFileRow {
  /** Path in the artifact; that of a folder ends with a slash. */
  path: string;
  name: string;
  depth: number;
  /** Null for a folder. */
  file: ArtifactFile | null;
  /** Number of files in a folder. */
  count: number;
}

/**
 * Return files and their folders, folders before the files in them.
 *
 * @param files - The files, in the order of their paths.
 * @param closed - Paths of folders whose files are hidden.
 */
export function fileRows(
  files: readonly ArtifactFile[],
  closed: ReadonlySet<string>
): IFileRow[] {
  const rows: IFileRow[] = [];
  const folders = new Map<string, IFileRow>();
  for (const file of files) {
    const parts = file.path.split('/');
    const depth = parts.length - 1;
    let isHidden = false;
    for (let level = 0; level < depth; level++) {
      const path = `${parts.slice(0, level + 1).join('/')}/`;
      let folder = folders.get(path);
      if (!folder) {
        const name = parts[level];
        folder = { path, name, depth: level, file: null, count: 0 };
        folders.set(path, folder);
        if (!isHidden) {
          rows.push(folder);
        }
      }
      folder.count++;
      isHidden = isHidden || closed.has(path);
    }
    if (!isHidden) {
      rows.push({ path: file.path, name: parts[depth], depth, file, count: 1 });
    }
  }
  return rows;
}
