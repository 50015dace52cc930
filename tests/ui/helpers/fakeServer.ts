import type { BrowserContext, Page, WebSocketRoute } from '@playwright/test';
import type {
  Capacity,
  Delta,
  EngineInfo,
  JobDetail,
  JobSummary,
  Snapshot,
  Subscribe,
  TensorBoard
} from '../../../src/api/types';
import { fakeEngine } from './fakes';

interface IState {
  jobs?: JobSummary[];
  details?: JobDetail[];
  tensorboards?: TensorBoard[];
  engines?: EngineInfo[];
  capacity?: Capacity;
}

/** Messages that the page gets from a fake stream, for states that are rare or cannot be produced. */
export class FakeServer {
  constructor(private readonly _page: Page) {}

  /** That of a page that goes on from test to test. */
  static of(page: Page): FakeServer {
    const context = page.context(); // the page itself is wrapped anew by each test
    const known = FakeServer._known.get(context);
    const server = known ?? new FakeServer(page);
    FakeServer._known.set(context, server);
    return server;
  }

  /** Take the place of the server's stream, before the page is loaded; or tell a loaded page of another state. */
  async tell(state: IState): Promise<void> {
    this._state = state;
    if (this._isThere) {
      this._sockets.forEach((wanted, socket) => this._answer(socket, wanted));
      return;
    }
    this._isThere = true;
    await this._page.routeWebSocket(/\/t9kjob\/stream/, socket => {
      if (this._isDown) {
        void socket.close({ code: 1011 });
        return;
      }
      socket.onMessage(text => {
        const wanted = JSON.parse(String(text)) as Subscribe;
        this._sockets.set(socket, wanted);
        this._answer(socket, wanted);
      });
    });
  }

  /** Accept connections and say nothing. */
  async keepSilent(): Promise<void> {
    await this._page.routeWebSocket(/\/t9kjob\/stream/, () => undefined);
  }

  /** Tell of jobs that have changed. */
  push(jobs: JobSummary[]): void {
    const delta: Delta = {
      type: 'delta',
      revision: ++this._revision,
      time: Date.now() / 1000,
      jobs,
      removed_jobs: [],
      tensorboards: [],
      removed_tensorboards: [],
      engines: null,
      notices: [],
      capacity: null,
      complete: true
    };
    for (const socket of this._sockets.keys()) {
      socket.send(JSON.stringify(delta));
    }
  }

  /** Cut the connection and refuse others. */
  async hangUp(): Promise<void> {
    this._isDown = true;
    await Promise.all(
      [...this._sockets.keys()].map(socket => socket.close({ code: 1011 }))
    );
  }

  /** Answer as a Jupyter server does that lacks our part of it. */
  async beMissing(): Promise<void> {
    await this._page.routeWebSocket(/\/t9kjob\//, socket =>
      socket.close({ code: 1011 })
    );
    await this._page.route(/\/t9kjob\//, route =>
      route.fulfill({
        status: 404,
        contentType: 'text/html',
        body: '<h1>404 : Not Found</h1>'
      })
    );
  }

  private _answer(socket: WebSocketRoute, wanted: Subscribe): void {
    const snapshot: Snapshot = {
      type: 'snapshot',
      revision: 1,
      time: Date.now() / 1000,
      engines: this._state.engines ?? [fakeEngine()],
      jobs: this._state.jobs ?? [],
      tensorboards: this._state.tensorboards ?? [],
      notices: [],
      capacity: (wanted.capacity && this._state.capacity) || null,
      complete: true
    };
    socket.send(JSON.stringify(snapshot));
    for (const detail of this._state.details ?? []) {
      if (wanted.details?.includes(detail.id)) {
        socket.send(JSON.stringify(detail));
      }
    }
  }

  private static readonly _known = new WeakMap<BrowserContext, FakeServer>();
  private _state: IState = {};
  private _revision = 1;
  private _isThere = false;
  private _isDown = false;
  /** The connections, with what each has subscribed to. */
  private _sockets = new Map<WebSocketRoute, Subscribe>();
}
