/** A real JupyterHub with its proxy, and what its administrator and its users do. */
import { expect } from '@playwright/test';
import type { Page } from '@playwright/test';
import { spawn } from 'child_process';
import type { ChildProcess } from 'child_process';
import { randomBytes } from 'crypto';
import { chmodSync, chownSync, mkdirSync, openSync, rmSync } from 'fs';
import path from 'path';
import { freePort } from './ownLab';

const ROOT = path.resolve(__dirname, '../../..');

/** Root can have each user's server run as a Unix user of its own. */
export const IS_ROOT = process.geteuid?.() === 0;

/** As in the hub's configuration. */
const UIDS: Record<string, number> = { alice: 20001, bob: 20002 };

export class Hub {
  /** Where its users' homes are. */
  readonly state = path.join(ROOT, 'build/ui/hub');

  get url(): string {
    return `http://127.0.0.1:${this._port}`;
  }

  /** Base of a user's server. */
  server(user: string): string {
    return `${this.url}/user/${user}`;
  }

  home(user: string): string {
    return path.join(this.state, user);
  }

  uid(user: string): number {
    return UIDS[user];
  }

  async start(): Promise<void> {
    rmSync(this.state, { recursive: true, force: true });
    mkdirSync(this.state, { recursive: true });
    for (const user of Object.keys(UIDS)) {
      for (const folder of [this.home(user), `${this.home(user)}/run`]) {
        mkdirSync(folder);
        chmodSync(folder, 0o755);
        this.give(user, folder);
      }
    }
    this._port = await freePort(3);
    const env = process.env.T9KJOB_UI_ENV ?? '';
    const log = openSync(path.join(this.state, 'hub.log'), 'w');
    this._process = spawn(
      `${env}/bin/jupyterhub`,
      [`--config=${ROOT}/tests/ui/jupyterhub_config.py`],
      {
        cwd: this.state,
        stdio: ['ignore', log, log],
        env: {
          ...process.env,
          PATH: `${env}/bin:${process.env.PATH}`,
          JUPYTER_PATH: `${ROOT}/build/kernels/share/jupyter`,
          T9KJOB_HUB_STATE: this.state,
          T9KJOB_HUB_PORT: String(this._port),
          T9KJOB_HUB_TOKEN: this._token,
          T9KJOB_HUB_PROXY: `${process.execPath} ${ROOT}/tests/ui/node_modules/configurable-http-proxy/bin/configurable-http-proxy`
        }
      }
    );
    const answers = (): Promise<boolean> =>
      fetch(`${this.url}/hub/api`).then(
        ({ ok }) => ok,
        () => false
      );
    await expect.poll(answers).toBe(true);
  }

  /** End it with its proxy and all servers. */
  async stop(): Promise<void> {
    const hub = this._process;
    if (hub && hub.exitCode === null && hub.signalCode === null) {
      const ended = new Promise(resolve => hub.once('exit', resolve));
      hub.kill('SIGTERM');
      await ended;
    }
  }

  /** Make a file a user's own. */
  give(user: string, file: string): void {
    if (IS_ROOT) {
      chownSync(file, UIDS[user], UIDS[user]);
    }
  }

  /** Stop a user's server, as the administrator and an idle culler do. */
  async stopServer(user: string): Promise<void> {
    await this._ask('DELETE', `users/${user}/server`);
    await expect.poll(() => this._serverOf(user)).toBe('stopped');
  }

  /** Start a user's server, unless it runs. */
  async startServer(user: string): Promise<void> {
    if ((await this._serverOf(user)) !== 'ready') {
      await this._ask('POST', `users/${user}/server`);
      await expect.poll(() => this._serverOf(user)).toBe('ready');
    }
  }

  /** Log in as a person does, up to the lab that the hub starts. */
  async logIn(page: Page, user: string): Promise<void> {
    await page.goto(`${this.url}/hub/login`);
    await page.getByLabel('Username').fill(user);
    await page.getByLabel('Password').fill('secret');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`${this.server(user)}/lab*`);
    await page.locator('.jp-Launcher-body').waitFor();
  }

  /** The hub lists a server that starts or stops, too; whoever asks then for a new one has to ask again later. */
  private async _serverOf(
    user: string
  ): Promise<'ready' | 'pending' | 'stopped'> {
    const answer = await this._ask('GET', `users/${user}`);
    const server = (await answer.json()).servers[''];
    return server?.ready ? 'ready' : server ? 'pending' : 'stopped';
  }

  private async _ask(method: string, what: string): Promise<Response> {
    const headers = { Authorization: `token ${this._token}` };
    const url = `${this.url}/hub/api/${what}`;
    const answer = await fetch(url, { method, headers });
    expect(answer.ok, `${method} ${what}: ${answer.status}`).toBe(true);
    return answer;
  }

  private _port = 0;
  private readonly _token = randomBytes(16).toString('hex');
  private _process: ChildProcess | null = null;
}
