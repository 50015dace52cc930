/** Time of an engine's last update. */

import { EngineInfo } from '../api/types';
import { IJobsModel } from '../tokens';

/**
 * Return the time at which the state of an engine's jobs was last known to be current, in seconds;
 * null while it is current.
 *
 * @param jobs - The connection and the engines.
 * @param engine - Name of the engine.
 */
export function asOfEngine(
  jobs: Pick<IJobsModel, 'connection' | 'asOf'> & {
    readonly engines: readonly EngineInfo[];
  },
  engine: string
): number | null {
  if (jobs.connection.state === 'lost') {
    return jobs.asOf;
  }
  const found = jobs.engines.find(({ name }) => name === engine);
  return found?.cluster?.stale_since ?? null;
}
