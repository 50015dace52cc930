/** Requests to the REST API: URLs, JSON and errors. */

import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import { TranslationBundle } from '@jupyterlab/translation';
import { loadTranslation } from '../common/translation';
import { ApiError } from './errors';
import { ApiError as ApiErrorBody } from './types';

/** Path of the API below the server's base URL. */
export const NAMESPACE = 't9kjob';

/** Parameters of a URL; a list repeats its parameter, and undefined omits it. */
export type Query = Record<
  string,
  string | number | boolean | string[] | undefined
>;

/** Parts of a request beside method and path. */
export interface IRequest {
  query?: Query;
  body?: object;
  signal?: AbortSignal;
}

/** Parses the text of an answer. */
export type Parse<T> = (text: string) => T | Promise<T>;

/** Sends requests to the REST API. All methods that return a promise reject with `ApiError`. */
export class HttpClient {
  constructor(
    readonly serverSettings: ServerConnection.ISettings,
    private readonly _trans: TranslationBundle = loadTranslation(null)
  ) {}

  /** Return the URL of a route. */
  protected _url(path: string[], query: Query = {}): string {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      for (const item of Array.isArray(value) ? value : [value]) {
        if (item !== undefined) {
          search.append(name, String(item));
        }
      }
    }
    const url = URLExt.join(
      this.serverSettings.baseUrl,
      NAMESPACE,
      ...path.map(encodeURIComponent)
    );
    const text = search.toString();
    return text ? `${url}?${text}` : url;
  }

  /** Send a GET request and return the JSON value of its answer. */
  protected _get<T>(path: string[], query: Query = {}): Promise<T> {
    return this._send('GET', path, { query });
  }

  /**
   * Send a request and return the JSON value of its answer; null if the answer has no content.
   *
   * @param parse - Reads the text of the answer.
   */
  protected async _send<T>(
    method: string,
    path: string[],
    request: IRequest = {},
    parse: Parse<T> = JSON.parse
  ): Promise<T> {
    const response = await this._request(method, path, request);
    if (response.status === 204) {
      return null as T;
    }
    const text = await response.text().catch(error => {
      throw this._noAnswer(error);
    });
    try {
      return await parse(text);
    } catch (error) {
      // A login page or a page of a proxy can have a success status.
      throw new ApiError(response.status, {
        message: this._trans.__(
          'The answer did not come from the server part of Distributed Jobs.'
        ),
        code: 'NotJson',
        hint: this._trans.__(
          'You may have to log in again: reload the page. A proxy in between may also be the cause.'
        ),
        verbatim: String(error)
      });
    }
  }

  /** Send a request and return its answer if the status is a success. */
  protected async _request(
    method: string,
    path: string[],
    { query, body, signal }: IRequest
  ): Promise<Response> {
    let response: Response;
    try {
      response = await ServerConnection.makeRequest(
        this._url(path, query),
        { method, signal, ...(body && { body: JSON.stringify(body) }) },
        this.serverSettings
      );
    } catch (error) {
      throw this._noAnswer(error);
    }
    if (!response.ok) {
      throw await this._error(response);
    }
    return response;
  }

  private _noAnswer(error: unknown): ApiError {
    return new ApiError(0, {
      message: this._trans.__('The Jupyter server does not answer.'),
      code: 'NoAnswer',
      verbatim: String(error)
    });
  }

  /** Return the error for an answer. The API sends errors as JSON; a 404 without JSON is Jupyter's own page. */
  private async _error(response: Response): Promise<ApiError> {
    const text = await response.text();
    let body: Partial<ApiErrorBody> = {};
    try {
      body = JSON.parse(text);
    } catch {
      if (response.status === 404) {
        return new ApiError(404, {
          message: this._trans.__(
            'The server part of Distributed Jobs is not running.'
          ),
          code: 'ServerPartMissing'
        });
      }
      // The answer is the HTML page of a proxy or hub, which is not shown to the user.
    }
    return new ApiError(response.status, {
      ...body,
      message:
        body.message ||
        this._trans.__(
          'The Jupyter server answered %1 %2.',
          response.status,
          response.statusText
        )
    });
  }
}
