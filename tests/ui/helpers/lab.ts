/** Actions of a user in the lab, and requests to the server, for the tests. */
import { expect, galata, test as base } from '@jupyterlab/galata';
import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import type {
  APIRequestContext,
  BrowserContext,
  Locator,
  Page
} from '@playwright/test';
import path from 'path';
import './galata';
import type { Job, JobSpecInput } from '../../../src/api/types';

export { expect };

/** Files of the repository. */
export const EXAMPLES = path.resolve(__dirname, '../../../examples');

/** The folder of a test's files: a name of a person's, for it is in every picture. */
export const FOLDER = 'mnist_ddp';

/**
 * Parts of the lab that no test uses: a page without them loads with a fifth less CPU. The smoke test and the hub's have
 * the whole lab.
 */
const UNUSED = [
  'console',
  'csvviewer',
  'debugger',
  'extensionmanager',
  'help',
  'htmlviewer',
  'imageviewer',
  'inspector',
  'json',
  'logconsole',
  'lsp',
  'mathjax',
  'mermaid',
  'metadataform',
  'pdf',
  'toc',
  'tooltip',
  'vega5'
].map(name => `@jupyterlab/${name}-extension`);

interface IKept {
  /** The file and the group of the tests that it is for. */
  group: string;
  context: BrowserContext | null;
  /** True when a test has left the lab in its page. */
  isLoaded: boolean;
}

/** The page of this worker that goes on from test to test, see `helpers/samePage.ts`: no fixture, for tests with others would need another worker. */
export const kept: IKept = { group: '', context: null, isLoaded: false };

/** The lab's own fonts instead of Galata's. */
export const SETTINGS = {
  ...galata.DEFAULT_SETTINGS,
  '@jupyterlab/apputils-extension:themes': {}
};

/**
 * The lab as a person has it: its own fonts instead of Galata's, a folder of one's own, and no jobs; without the parts
 * that are not used.
 */
export const test = base.extend({
  context: async ({ context }, use, info) => {
    await kept.context?.close();
    Object.assign(kept, { group: '', context: null });
    await leaveOutUnused(context);
    await use(context);
    // It is used again, or not: until then no lab goes on in it. Browsers are closed after failures.
    if (info.status === info.expectedStatus) {
      await Promise.all(context.pages().map(page => page.goto('about:blank')));
    }
  },
  mockSettings: SETTINGS,
  // The labs of the workers have consecutive ports.
  baseURL: async ({ baseURL }, use, { parallelIndex }) => {
    const url = new URL(baseURL ?? '');
    url.port = String(Number(url.port) + parallelIndex);
    await use(url.origin);
  },
  tmpPath: async ({ request }, use) => {
    await removeAll(request);
    const contents = galata.newContentsHelper(request);
    if (await contents.directoryExists(FOLDER)) {
      await contents.deleteDirectory(FOLDER);
    }
    await contents.createDirectory(FOLDER);
    await use(FOLDER);
    await removeAll(request);
    await contents.deleteDirectory(FOLDER);
  }
});

/** Have all pages of a context load without the parts of the lab that no test uses. */
export async function leaveOutUnused(context: BrowserContext): Promise<void> {
  // Before the lab's deferred scripts read the page's configuration.
  await context.addInitScript(
    unused =>
      document.addEventListener('readystatechange', () => {
        const node = document.getElementById('jupyter-config-data');
        if (node && document.readyState === 'interactive') {
          const config = JSON.parse(node.textContent ?? '');
          config.disabledExtensions.push(...unused);
          node.textContent = JSON.stringify(config);
        }
      }),
    UNUSED
  );
}

/** End and remove all jobs and TensorBoards, so that they are not in the way of the next test. */
export async function removeAll(request: APIRequestContext): Promise<void> {
  const { tensorboards } = await (
    await request.get(api('tensorboards'))
  ).json();
  for (const { id } of tensorboards) {
    await request.delete(api('tensorboards', id));
  }
  await expect
    .poll(
      async () => {
        const url = `${api('jobs')}?deleted=true`;
        const { jobs } = await (await request.get(url)).json();
        for (const { id, deleted } of jobs) {
          await (deleted
            ? request.post(api('jobs', id, 'remove'))
            : request.delete(`${api('jobs', id)}?remove=true`));
        }
        return jobs.length;
      },
      { message: 'jobs that are left' }
    )
    .toBe(0);
}

type Lab = IJupyterLabPageFixture;
type Arguments = Record<string, string | number | boolean>;

/** Run a command of the lab; does not wait for what it opens. */
export async function run(
  page: Pick<Page, 'evaluate'>,
  command: string,
  args: Arguments = {}
): Promise<void> {
  await page.evaluate(
    ([id, values]) => {
      void window.jupyterapp.commands.execute(id, values);
    },
    [command, args] as const
  );
}

/** The sidebar of all jobs; opened. */
export async function openSidebar(page: Lab): Promise<Locator> {
  await page.sidebar.openTab('t9kjob-monitor');
  await page.sidebar.setWidth(300);
  return sidebar(page);
}

export function sidebar(page: Lab): Locator {
  return page.getByRole('region', { name: 'Distributed Jobs', exact: true });
}

/** A tab of the main area by its title. */
export function mainTab(page: Lab, title: string | RegExp): Locator {
  return page.getByRole('main').getByRole('tab', { name: title });
}

/** The tab of a job, in front. */
export function jobTab(page: Lab): Locator {
  return page.locator('.jp-t9k-Job:visible');
}

/** The main area of the lab. */
export function mainArea(page: Lab): Locator {
  return page.locator('#jp-main-dock-panel');
}

/** Give the main area a width, in px: the rest goes to the sidebar. */
export async function setMainWidth(page: Lab, width: number): Promise<void> {
  const main = await mainArea(page).boundingBox();
  const side = await page.locator('#jp-left-stack').boundingBox();
  if (!main || !side) {
    throw new Error('the lab has no main area, or its sidebar is closed');
  }
  await page.sidebar.setWidth(Math.round(side.width + main.width - width));
}

/** Without WebGL TensorBoard draws its curves as SVG, which can be read; before one is opened. */
export async function drawCurvesAsSvg(
  page: Pick<Page, 'addInitScript'>
): Promise<void> {
  await page.addInitScript(() => {
    const { getContext } = HTMLCanvasElement.prototype;
    HTMLCanvasElement.prototype.getContext = function (
      this: HTMLCanvasElement,
      kind: string,
      ...rest: unknown[]
    ) {
      return kind === 'webgl2' ? null : getContext.call(this, kind, ...rest);
    } as typeof getContext;
  });
}

/** Copy a file of the examples into the lab. */
export async function copyExample(
  page: Lab,
  file: string,
  target: string
): Promise<void> {
  await page.contents.uploadFile(path.join(EXAMPLES, file), target);
}

/** Write a text file into the lab. */
export async function writeFile(
  page: Lab,
  file: string,
  text: string
): Promise<void> {
  await page.contents.uploadContent(text, 'text', file);
}

/** Read a text file of the lab. */
export async function readFile(page: Lab, file: string): Promise<string> {
  const response = await page.request.get(
    `/api/contents/${encodeURI(file)}?type=file&format=text`
  );
  return (await response.json()).content;
}

/** Absolute path of a file of the lab. */
export async function absolute(page: Lab, file: string): Promise<string> {
  return path.join((await page.getServerRoot()) ?? '', file);
}

interface IScript {
  /** Contents path. */
  file: string;
  args?: string[];
  /** Null switches torchrun off: one process, which starts at once. */
  processes?: number | null;
  more?: Partial<JobSpecInput>;
}

/** Submit a job as the form does, without the form. */
export async function submit(
  page: Lab,
  name: string,
  { file, args = [], processes = null, more = {} }: IScript
): Promise<Job> {
  const script = await absolute(page, file);
  const response = await page.request.post(api('jobs'), {
    data: {
      engine: 'local',
      request_id: `test-${name}-${Date.now()}`,
      spec: {
        name,
        entrypoint: { kind: 'script', value: script },
        args,
        working_dir: path.dirname(script),
        torchrun: processes === null ? null : { proc_per_node: processes },
        ...more
      }
    }
  });
  expect(response.status(), await response.text()).toBe(201);
  return await response.json();
}

/** Wait until the server says that a job is in a phase. */
export async function waitForPhase(
  page: Lab,
  id: string,
  phase: string
): Promise<Job> {
  let job: Job | undefined;
  await expect
    .poll(
      async () => {
        const response = await page.request.get(api('jobs', id));
        job = await response.json();
        return job?.phase;
      },
      { message: `phase of ${id}` }
    )
    .toBe(phase);
  return job as Job;
}

/** Address of a route of ours. */
export function api(...parts: string[]): string {
  return ['/t9kjob', ...parts.map(encodeURIComponent)].join('/');
}
