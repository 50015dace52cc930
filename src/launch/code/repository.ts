/** A git repository as the code of a job. */
import { GitRepository, OwnRepository } from '../../api/types';

/**
 * Return the repository of the user's own clone.
 *
 * @param own - The clone in which the form's file lies; null without one: the user enters the address.
 */
export function ownRepository(own: OwnRepository | null): GitRepository {
  return {
    kind: 'git',
    address: own?.address ?? '',
    ref: own?.commit?.branch ?? '',
    folder: own?.folder ?? '',
    worktree: own?.worktree ?? null,
    submodules: false,
    protocols: null,
    history: false,
    secret: null,
    image: null,
    commit: null,
    path: null
  };
}

/** Return the last two parts of an address: `vision/eurosat`. */
export function repositoryName(address: string): string {
  return address
    .replace(/\/$/, '')
    .replace(/\.git$/, '')
    .split(/[:/]/)
    .filter(part => part)
    .slice(-2)
    .join('/');
}
