import { defineConfig } from '@playwright/test';
import type { PlaywrightTestConfig } from '@playwright/test';
import { execFileSync } from 'child_process';
import path from 'path';
import { PATIENCE } from './helpers/galata';

const root = path.resolve(__dirname, '../..');
const build = path.join(root, 'build');

// The run with the cluster may go on beside the other one, so it has reports, labs and results of its own.
const report = process.env.T9KJOB_UI_REPORT ?? 'ui.xml';
const alone = report !== 'ui.xml'; // one file, so one worker and its lab
const places = path.join(build, path.basename(report, '.xml'));

// A test finds no jobs but its own, so each worker has a lab of its own; helpers/lab.ts takes it by its port.
const workers = 2;

// The workers read this file too and have to find the same ports: those that the system gives to nobody who connects,
// and that browsers open (not 10080).
process.env.T9KJOB_UI_PORT ??= String(11000 + 4 * (process.pid % 4500));
const port = Number(process.env.T9KJOB_UI_PORT);

/** An environment to test in place of the wheel's, such as the one that is developed in. */
const development = process.env.LAB_ENV && path.resolve(process.env.LAB_ENV);

/** The browser that the environment names, or Debian's Chromium: the headless shell if it is there. */
function chromium(): string {
  const find = 'command -v chromium-headless-shell || command -v chromium';
  return (
    process.env.CHROMIUM ||
    execFileSync('sh', ['-c', find], { encoding: 'utf8' }).trim()
  );
}

type WebServer = Extract<
  NonNullable<PlaywrightTestConfig['webServer']>,
  unknown[]
>[number];

/** The environment of the newest lab, for tests that start one of their own. */
process.env.T9KJOB_UI_ENV = development || `${build}/lab-newest`;

/** A JupyterLab of one environment, with all its state in a folder that is new at each start. */
function lab(name: string, port: number, env: string, args: string): WebServer {
  const state = path.join(places, name);
  return {
    command:
      `rm -rf ${state} && mkdir -p ${state}/root && ` +
      `exec ${env}/bin/jupyter lab --no-browser --allow-root --log-level=WARN ` +
      `--expose-app-in-browser --port=${port} ${args}`,
    env: {
      JUPYTER_CONFIG_DIR: `${state}/config`,
      JUPYTER_DATA_DIR: `${state}/data`,
      JUPYTER_RUNTIME_DIR: `${state}/runtime`,
      JUPYTER_PATH: `${build}/kernels/share/jupyter`,
      JUPYTERLAB_SETTINGS_DIR: `${state}/settings`,
      JUPYTERLAB_WORKSPACES_DIR: `${state}/workspaces`,
      JUPYTERLAB_GALATA_ROOT_DIR: `${state}/root`,
      PYTHONPATH: path.join(root, 'tests/local/spared')
    },
    gracefulShutdown: { signal: 'SIGTERM', timeout: 10_000 },
    name,
    timeout: 600_000,
    // answers without a token, under any base URL
    url: `http://localhost:${port}${/base_url=(\S+)/.exec(args)?.[1] ?? '/'}api`
  };
}

const newest = Array.from({ length: workers }, (_, index) =>
  lab(
    `newest-${index}`,
    port + index,
    process.env.T9KJOB_UI_ENV ?? '',
    `--config=${__dirname}/jupyter_server_config.py`
  )
);

// As on a JupyterHub: with a base URL, a token and XSRF checks.
const oldest = lab(
  'oldest',
  port + workers,
  `${build}/lab-4.2`,
  `--ServerApp.root_dir=${places}/oldest/root --ServerApp.base_url=/user/a%40b/ --IdentityProvider.token=secret`
);

export default defineConfig({
  testDir: '.',
  outputDir: `${places}/results`,
  reporter: [
    ['list'],
    ['./repeats.ts'],
    [
      'junit',
      {
        outputFile: `${build}/reports/${report}`
      }
    ]
  ],
  forbidOnly: !!process.env.CI,
  // Some depend on the timing of torchrun or of a node; each repeat is named at the run's end.
  retries: 1,
  // A loaded machine may be ten times slower than a developer's. A wait ends as soon as its event comes, so a long limit
  // costs a passing test nothing.
  timeout: 1_200_000,
  expect: { timeout: PATIENCE, toPass: { timeout: PATIENCE } },
  workers,
  use: {
    // A page that is emptied loads the lab with a fifth less CPU than a new one.
    reuseContext: true,
    launchOptions: {
      executablePath: chromium(),
      args: ['--no-sandbox', '--disable-background-networking']
    },
    actionTimeout: PATIENCE,
    navigationTimeout: PATIENCE,
    screenshot: 'only-on-failure',
    // Recording costs a tenth of the time, and whatever fails is repeated.
    trace: 'on-first-retry',
    viewport: { width: 1400, height: 900 }
  },
  projects: [
    {
      name: 'newest',
      testIgnore: 'cluster.spec.ts',
      use: { baseURL: `http://localhost:${port}` }
    },
    {
      name: 'cluster',
      testMatch: 'cluster.spec.ts',
      use: { baseURL: `http://localhost:${port}` }
    },
    {
      name: 'oldest',
      testMatch: 'smoke.spec.ts',
      use: { baseURL: `http://localhost:${port + workers}/user/a%40b/` }
    }
  ].slice(0, development ? 2 : 3),
  webServer: alone
    ? newest.slice(0, 1)
    : development
      ? newest
      : [...newest, oldest]
});
