/** Client of the REST API of experiments. It is loaded with the first page of experiments. */
import { ApiError } from '../api/errors';
import { HttpClient, IRequest, Parse } from '../api/http';
import {
  ArtifactDetail,
  Checksum,
  Curves,
  CurvesRequest,
  EditRun,
  Flow,
  Points,
  Preview,
  Removal,
  RunDetail,
  RunRow,
  RunTable,
  ValuesAt,
  ValuesAtRequest
} from '../api/types';
import { readRunTable } from './runTable';

/** Code of the answer to a request for a run or artifact before all folders were searched. */
const STILL_SEARCHING = 'StillSearching';
/** Pause before the next request, in ms, for a server that does not hold them. */
const PAUSE = 500;

/** Selection of the runs to list. */
export interface IRunsQuery {
  /** Contents path of the folder; the lab's root is ''. */
  folder: string;
  /** Revision of the last answer; the server waits up to 15 s for a newer one. -1 answers at once. */
  revision: number;
  /** Metrics whose summaries are part of the answer, beside the most frequent ones. */
  metrics?: string[];
  /** Metrics whose small curves are part of the answer. */
  curves?: string[];
}

/** A method for every route of experiments. All methods reject with `ApiError`. */
export class ExperimentsClient extends HttpClient {
  /** Return the runs below a folder, or the changes since a revision. */
  runs(query: IRunsQuery, signal?: AbortSignal): Promise<RunTable> {
    const path = ['experiments', 'runs'];
    const request = { query: { ...query }, signal };
    return this._send('GET', path, request, readRunTable);
  }

  /** Return a run with everything that is known about it. */
  run(id: string): Promise<RunDetail> {
    return this._get(['experiments', 'runs', id]);
  }

  /** Return curves, reduced to the minimum and the maximum of each pixel. */
  curves(request: CurvesRequest, signal?: AbortSignal): Promise<Curves> {
    const path = ['experiments', 'curves'];
    return this._send('POST', path, { body: request, signal });
  }

  /** Return values of metrics of at most 1000 runs at a step. */
  valuesAt(body: ValuesAtRequest, signal?: AbortSignal): Promise<ValuesAt> {
    const path = ['experiments', 'values-at'];
    return this._send('POST', path, { body, signal });
  }

  /**
   * Return values of a metric as they were recorded.
   *
   * @param id - Id of the run.
   * @param metric - Full name of the metric.
   * @param page - Number of the first value, from 0, and of values: at most 10 000.
   */
  values(
    id: string,
    metric: string,
    page: { first: number; limit: number }
  ): Promise<Points> {
    return this._get(['experiments', 'runs', id, 'values'], {
      metric,
      ...page
    });
  }

  /** Change what the lab keeps about a run. */
  change(id: string, body: EditRun): Promise<RunRow> {
    return this._send('PATCH', ['experiments', 'runs', id], { body });
  }

  /** Delete runs or artifacts; with `dry_run`, only list what would be deleted. */
  remove(ids: readonly string[], dry_run: boolean): Promise<Removal> {
    return this._send('POST', ['experiments', 'removal'], {
      body: { ids, dry_run }
    });
  }

  /** Return the graph of runs and artifacts that are connected with one of them. */
  flow(id: string): Promise<Flow> {
    return this._get(['experiments', 'flow'], { id });
  }

  /** Return an artifact with its files and runs. */
  artifact(id: string): Promise<ArtifactDetail> {
    return this._get(['experiments', 'artifacts', id]);
  }

  /** Archive or restore an artifact. */
  archiveArtifact(id: string, archived: boolean): Promise<ArtifactDetail> {
    const path = ['experiments', 'artifacts', id];
    return this._send('PATCH', path, { body: { archived } });
  }

  /** Return the address from which all files of an artifact are downloaded as a ZIP file. */
  archiveUrl(id: string): string {
    return this._url(['experiments', 'artifacts', id, 'archive']);
  }

  /** Return the preview of a file of an artifact; with `text`, that of a table in a text file is its text. */
  preview(id: string, path: string, text = false): Promise<Preview> {
    const query = text ? { path, text } : { path };
    return this._get(['experiments', 'artifacts', id, 'preview'], query);
  }

  /** Return the address from which a file of an artifact is downloaded, or shown as an image. */
  fileUrl(id: string, path: string): string {
    return this._url(['experiments', 'artifacts', id, 'file'], { path });
  }

  /** Compute the checksums of a file of an artifact; the server reads the whole file. */
  checksum(id: string, path: string): Promise<Checksum> {
    return this._send('POST', ['experiments', 'artifacts', id, 'checksum'], {
      body: { path }
    });
  }

  /**
   * Send a request, again and again while the server still searches for what it names.
   *
   * The server holds each request for some seconds. The page is loading until it finds the run or artifact, or knows
   * that there is none.
   */
  protected override async _send<T>(
    method: string,
    path: string[],
    request?: IRequest,
    parse?: Parse<T>
  ): Promise<T> {
    for (;;) {
      try {
        return await super._send(method, path, request, parse);
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== STILL_SEARCHING) {
          throw error;
        }
      }
      await new Promise(resolve => setTimeout(resolve, PAUSE));
    }
  }
}
