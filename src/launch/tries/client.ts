/** Requests for tries. They are not part of `ApiClient`, which is loaded with the lab. */
import { HttpClient } from '../../api/http';
import { Try, TryRequest } from '../../api/types';

/** Client of the routes `tries`. All methods reject with `ApiError`. */
export class TryClient extends HttpClient {
  /** Start a try. */
  start(request: TryRequest): Promise<Try> {
    return this._send('POST', ['tries'], { body: request });
  }

  /**
   * Return a try. The server answers as soon as the try has changed, or after 15 seconds.
   *
   * @param after - The last known revision.
   */
  next(id: string, after: number, signal: AbortSignal): Promise<Try> {
    return this._send('GET', ['tries', id], { query: { after }, signal });
  }

  /** Ask the server to stop a try. */
  stop(id: string): Promise<Try> {
    return this._send('DELETE', ['tries', id]);
  }
}
