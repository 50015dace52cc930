/** REST client of the use of resources. */
import { HttpClient } from '../../api/http';
import { LogMarkers, ResourceView } from '../../api/types';

/** Range, parts and version of a request. */
export interface IResourcesQuery {
  by: string;
  points: number;
  from?: number;
  version?: string;
}

/** Requests about the use of resources by jobs. */
export class ResourcesClient extends HttpClient {
  /** Return the use of resources by a job; with a version, as soon as there are newer samples or after 15 s. */
  resources(
    id: string,
    query: IResourcesQuery,
    signal: AbortSignal
  ): Promise<ResourceView> {
    return this._send('GET', ['jobs', id, 'resources'], {
      query: { ...query },
      signal
    });
  }

  /** Return lines of the log that tell of errors, warnings and checkpoints. */
  logMarkers(id: string, signal: AbortSignal): Promise<LogMarkers> {
    return this._send('GET', ['jobs', id, 'log-markers'], { signal });
  }
}
