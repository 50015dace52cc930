/** Conversions between absolute paths on the server's disk and paths relative to JupyterLab's root folder. */

/**
 * Return a path for display: relative to a folder, or unchanged if the file lies outside of it.
 *
 * @param path - Path; in the same form as that of the folder.
 * @param folder - Path of the folder, such as JupyterLab's root folder; null if it is not known.
 */
export function shownPath(path: string, folder: string | null): string {
  const contents = contentsPath(path, folder);
  return contents === null ? path : contents || '.';
}

/**
 * Return the absolute path for a typed text. A relative path is resolved against the root folder.
 *
 * @param text - Text of an input field.
 * @param root - Absolute path of JupyterLab's root folder; null if it is not known.
 */
export function absolutePath(text: string, root: string | null): string {
  const path = text.trim();
  if (!path || path.startsWith('/') || root === null) {
    return path;
  }
  const base = root.replace(/\/$/, '');
  return path === '.' ? base || '/' : `${base}/${path.replace(/^\.\//, '')}`;
}

/**
 * Return the path of a file in the contents API; null if the file lies outside of the root folder.
 *
 * @param path - Absolute path.
 * @param root - Absolute path of JupyterLab's root folder; null if it is not known.
 */
export function contentsPath(path: string, root: string | null): string | null {
  if (root === null) {
    return null;
  }
  const base = root.replace(/\/$/, '');
  return path === (base || '/')
    ? ''
    : path.startsWith(`${base}/`)
      ? path.slice(base.length + 1)
      : null;
}

/** Return the last component of a path. */
export function baseName(path: string): string {
  return path.replace(/\/+$/, '').split('/').pop() ?? '';
}
