/** Tells files that do not exist from other errors. */
import { ServerConnection } from '@jupyterlab/services';

/** Return true if the contents API has answered that a path does not exist. */
export function isMissing(error: unknown): boolean {
  return (
    error instanceof ServerConnection.ResponseError &&
    error.response.status === 404
  );
}
