/** Absolute paths of the server's disk as people know them: from the lab's root on. */

/** An absolute path from the root on; itself if it lies elsewhere. */
export function shownPath(path: string, root: string | null): string {
  const contents = contentsPath(path, root);
  return contents === null ? path : contents || '.';
}

/** What was typed, as an absolute path; what is not absolute begins at the root. */
export function absolutePath(text: string, root: string | null): string {
  const path = text.trim();
  if (!path || path.startsWith('/') || root === null) {
    return path;
  }
  const base = root.replace(/\/$/, '');
  return path === '.' ? base || '/' : `${base}/${path.replace(/^\.\//, '')}`;
}

/** An absolute path as the contents API names it; null if it lies outside of the root. */
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

/** The last part of a path. */
export function baseName(path: string): string {
  return path.replace(/\/+$/, '').split('/').pop() ?? '';
}
