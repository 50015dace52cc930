/** Folders of runs. */

/** Folder below which recorders write runs. */
const RUNS = /(^|\/)\.em\/runs$/;

/** Return the folder that a run belongs to: the parent of its own folder, without `.em/runs`. */
export function folderOfRun(path: string | null): string {
  const slash = (path ?? '').lastIndexOf('/');
  return (path ?? '').slice(0, Math.max(0, slash)).replace(RUNS, '');
}

/** Return the folders above a folder, from the nearest to the one below the root. */
export function parentsOf(folder: string): string[] {
  const parts = folder.split('/').filter(Boolean);
  return parts
    .slice(0, -1)
    .map((_, index) => parts.slice(0, index + 1).join('/'))
    .reverse();
}
