import { expect } from '@playwright/test';
import type { APIRequestContext } from '@playwright/test';
import { spawn } from 'child_process';
import type { ChildProcess } from 'child_process';
import { mkdirSync, rmSync, writeFileSync } from 'fs';
import { createServer } from 'net';
import path from 'path';

const BUILD = path.resolve(__dirname, '../../../build');

interface IOwnLabOptions {
  root?: string;
  /** With slashes around it. */
  baseUrl?: string;
  env?: Record<string, string>;
  /** Of our part of the server. */
  traits?: Record<string, unknown>;
  /** Further arguments of the server. */
  args?: string[];
}

/** A lab of a test's own, that can be killed and started again. */
export class OwnLab {
  constructor(
    name: string,
    private readonly _options: IOwnLabOptions = {}
  ) {
    this._state = path.join(BUILD, 'ui', name);
    rmSync(this._state, { recursive: true, force: true });
    mkdirSync(this.root, { recursive: true });
  }

  /** Where its files are. */
  get root(): string {
    return this._options.root ?? path.join(this._state, 'root');
  }

  /** Where its users' settings are. */
  get settings(): string {
    return path.join(this._state, 'settings');
  }

  get url(): string {
    return `http://localhost:${this._port}${(this._options.baseUrl ?? '').replace(/\/$/, '')}`;
  }

  /** Start it, after a death at the same address; resolves when it answers. */
  async start(): Promise<void> {
    this._port ||= await freePort();
    this._process = spawn(
      path.join(process.env.T9KJOB_UI_ENV ?? '', 'bin/jupyter'),
      [
        'lab',
        '--no-browser',
        '--allow-root',
        '--log-level=WARN',
        '--expose-app-in-browser',
        `--port=${this._port}`,
        '--ServerApp.port_retries=0',
        `--ServerApp.base_url=${this._options.baseUrl ?? '/'}`,
        `--config=${path.resolve(__dirname, '../jupyter_server_config.py')}`,
        ...(this._options.args ?? [])
      ],
      {
        stdio: 'ignore',
        env: {
          ...process.env,
          JUPYTER_CONFIG_DIR: `${this._state}/config`,
          JUPYTER_DATA_DIR: `${this._state}/data`,
          JUPYTER_RUNTIME_DIR: `${this._state}/runtime`,
          JUPYTER_PATH: `${BUILD}/kernels/share/jupyter`,
          JUPYTERLAB_SETTINGS_DIR: this.settings,
          JUPYTERLAB_WORKSPACES_DIR: `${this._state}/workspaces`,
          JUPYTERLAB_GALATA_ROOT_DIR: this.root,
          PYTHONPATH: path.join(BUILD, '../tests/local/spared'),
          T9KJOB_UI_TRAITS: JSON.stringify(this._options.traits ?? {}),
          ...this._options.env
        }
      }
    );
    while (!(await this._answers())) {
      if (this._process.exitCode !== null) {
        throw new Error(`the lab ended with ${this._process.exitCode}`);
      }
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  }

  /** Run a script of its root folder without torchrun; the job's id. */
  async submit(
    request: APIRequestContext,
    name: string,
    text: string
  ): Promise<string> {
    const script = path.join(this.root, `${name}.py`);
    writeFileSync(script, text);
    const answer = await request.post(`${this.url}/t9kjob/jobs`, {
      data: {
        request_id: `${name}-${Date.now()}`,
        spec: {
          name,
          entrypoint: { kind: 'script', value: script },
          working_dir: this.root,
          torchrun: null
        }
      }
    });
    expect(answer.status(), await answer.text()).toBe(201);
    return (await answer.json()).id;
  }

  /** End it without a chance to say good-bye. */
  async kill(): Promise<void> {
    const process = this._process;
    if (process && process.exitCode === null && process.signalCode === null) {
      const ended = new Promise(resolve => process.once('exit', resolve));
      process.kill('SIGKILL');
      await ended;
    }
  }

  private async _answers(): Promise<boolean> {
    return fetch(`${this.url}/api`).then(
      response => response.ok,
      () => false
    );
  }

  private readonly _state: string;
  private _port = 0;
  private _process: ChildProcess | null = null;
}

/**
 * A port that is free, also while its lab is dead: below those that the system gives to whoever connects.
 *
 * @param count - How many ports have to be free, from that one on.
 */
export async function freePort(count = 1): Promise<number> {
  const port = 30_000 + Math.floor(2_700 * Math.random());
  for (let next = port; next < port + count; next++) {
    const free = await new Promise<boolean>(resolve => {
      const server = createServer();
      server.once('error', () => resolve(false));
      server.listen(next, () => server.close(() => resolve(true)));
    });
    if (!free) {
      return freePort(count);
    }
  }
  return port;
}
