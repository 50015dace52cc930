/** A note in the log of a cluster job stands where lines are missing, with their time span. */
import type { LogLine, LogStream } from '../../src/api/types';
import { expectAccessible } from './helpers/accessible';
import { fakeClusterDetail, fakeClusterJobs } from './helpers/clusterJobs';
import { clusterEngines } from './helpers/fakeCluster';
import { tellLog } from './helpers/fakeLog';
import { FakeServer } from './helpers/fakeServer';
import { expect, jobTab, run, test } from './helpers/lab';
import { picture } from './helpers/pictures';

test.use({ autoGoto: false });

const NOW = Math.floor(Date.now() / 1000);
const SIZE = 40;
const LINES = 24;
const GAP = 12;

function stream(index: number, changes: Partial<LogStream>): LogStream {
  return {
    id: `worker-${index}.1.container.out`,
    replica: `worker-${index}`,
    attempt: 1,
    source: 'container',
    output: 'both',
    container: null,
    local_rank: null,
    rank: null,
    worker_restart: 0,
    size: 0,
    removed: 0,
    first_time: null,
    last_time: null,
    complete: false,
    missing: [],
    waiting: null,
    ...changes
  };
}

test('what is missing, and why nothing comes', async ({ page }) => {
  const cut = stream(0, {
    size: LINES * SIZE,
    missing: [
      {
        sentence:
          'Lines may be missing here: nobody followed this log meanwhile, and its node keeps only the newest part.',
        offset: GAP * SIZE,
        since: NOW - 900,
        until: NOW - 300
      }
    ]
  });
  const waits = stream(2, {
    waiting:
      'There is no image t9kpublic/pytorch-2.6.0:sdk-0.6. Check the name and the tag.'
  });
  const lines = Array.from({ length: LINES }, (_, index): LogLine => ({
    stream: cut.id,
    offset: index * SIZE,
    size: SIZE,
    time: NOW - (index < GAP ? 900 + GAP - index : 300 + GAP - index),
    text: `step ${1000 + (index < GAP ? index : index + 600)} loss ${(3 - index / 20).toFixed(3)}`,
    updates: 1,
    partial: false,
    cut: false,
    removed: 0
  }));
  await tellLog(page, [cut, waits], lines);
  const [first] = fakeClusterJobs();
  const detail = fakeClusterDetail(first);
  await new FakeServer(page).tell({
    engines: clusterEngines(),
    jobs: [first],
    details: [detail]
  });
  await page.goto('?reset');
  await run(page, 't9kjob:open-job', { id: first.id, tab: 'logs' });
  const log = jobTab(page).getByRole('log');
  await expect(log.locator('.jp-t9k-LogRow')).toHaveCount(LINES);
  const notes = log.getByRole('separator');
  await expect(notes).toHaveText([
    /^worker-0 · \d\d:\d\d:\d\d – \d\d:\d\d:\d\d: Lines may be missing here: nobody/,
    /^worker-2 · There is no image/
  ]);
  const shown = await log
    .locator('.jp-t9k-LogRow-text, [role=separator]')
    .allTextContents();
  expect(shown[GAP]).toContain('Lines may be missing here');
  await expect(notes.first()).toBeInViewport();
  await expectAccessible(page);
  await picture(page, 'log-missing');
});
