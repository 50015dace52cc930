/** Kinds of entrypoints, and their values for a file. */
import { JobSpec } from '../../api/types';

/** Kinds of entrypoints. */
export type EntrypointKind = JobSpec['entrypoint']['kind'];

/** Return the kind of entrypoint for a file, by its extension. */
export function fileKind(path: string): 'script' | 'notebook' {
  return path.endsWith('.ipynb') ? 'notebook' : 'script';
}

/** Return the folder of an entrypoint; null if it is not a file with an absolute path. */
export function folderOf(kind: EntrypointKind, value: string): string | null {
  const isFile = kind === 'script' || kind === 'notebook';
  return isFile && value.startsWith('/')
    ? value.replace(/\/[^/]*$/, '') || '/'
    : null;
}

/**
 * Return the value and working directory of an entrypoint of another kind for a file. A command is empty.
 *
 * @param path - Path of the file in the contents API.
 * @param root - Absolute path of the contents root.
 */
export function asKind(
  kind: EntrypointKind,
  path: string,
  root: string
): Pick<JobSpec, 'working_dir'> & { value: string } {
  const base = root.replace(/\/$/, '');
  switch (kind) {
    case 'command':
      return { value: '', working_dir: root };
    case 'module':
      // Python looks for a module in the working directory.
      return {
        value: path.replace(/\.[^./]+$/, '').replace(/\//g, '.'),
        working_dir: root
      };
    default: {
      const file = `${base}/${path}`;
      return { value: file, working_dir: file.replace(/\/[^/]*$/, '') };
    }
  }
}
