/** A log of a million lines: of which the page holds a part, and shows every place. */
import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import type { Locator } from '@playwright/test';
import {
  expect,
  jobTab,
  run,
  submit,
  test,
  waitForPhase,
  writeFile
} from './helpers/lab';

/** Of all ranks together. */
const LINES = Number(process.env.T9KJOB_LOG_LINES ?? 1_000_000);
const RANKS = 4;
const STEPS = LINES / RANKS;
/** Lines that src/logs/loading/window.ts holds, and one more page. */
const MOST_HELD = 11_000;
const MOST_ROWS = 200;

const COUNTS = `
import os
import sys

rank = os.environ["RANK"]
for begin in range(0, ${STEPS}, 1000):
    sys.stdout.write("".join(f"rank {rank} step {step}\\n" for step in range(begin, begin + 1000)))
`;

interface IShown {
  rank: number;
  step: number;
}

/** The lines in view, if there is no gap in the view. */
async function shown(log: Locator): Promise<IShown[] | null> {
  const texts = await log.evaluate(element => {
    const view = element.getBoundingClientRect();
    const bottom = view.top + element.clientHeight;
    const rows = Array.from(element.querySelectorAll('.jp-t9k-LogRow'))
      .map(row => ({ box: row.getBoundingClientRect(), row }))
      .filter(({ box }) => box.bottom > view.top && box.top < bottom);
    const first = rows[0];
    const last = rows[rows.length - 1];
    return first &&
      first.box.top <= view.top + 1 &&
      last.box.bottom >= bottom - 1
      ? rows.map(
          ({ row }) =>
            row.querySelector('.jp-t9k-LogRow-text')?.textContent ?? ''
        )
      : null;
  });
  return (
    texts &&
    texts.map(text => {
      const [, rank, step] = /^rank (\d) step (\d+)$/.exec(text) ?? [];
      return { rank: Number(rank), step: Number(step) };
    })
  );
}

/** Wait until the view is full of the right lines; every rank's one after the other. */
async function expectLines(
  page: IJupyterLabPageFixture,
  log: Locator,
  where: (lines: IShown[]) => boolean = () => true
): Promise<IShown[]> {
  let lines: IShown[] | null = null;
  await expect
    .poll(async () => {
      lines = await shown(log);
      return lines !== null && where(lines);
    })
    .toBe(true);
  const known = lines as unknown as IShown[];
  const steps = new Map<number, number>();
  for (const { rank, step } of known) {
    expect(step).toBe((steps.get(rank) ?? step - 1) + 1);
    steps.set(rank, step);
  }
  await expectBounded(page, log);
  return known;
}

/** The part of the log that the page holds. */
async function held(
  page: IJupyterLabPageFixture
): Promise<{ lines: number; from: number }> {
  return page.evaluate(() => {
    interface IWindow {
      lines: unknown[];
      before: Record<string, number>;
    }
    interface IJobTab {
      content: { model: { log: { log: { window: IWindow } } } };
    }
    const tab = window.jupyterapp.shell.currentWidget as unknown as IJobTab;
    const { lines, before } = tab.content.model.log.log.window;
    const from = Object.values(before).reduce((sum, bytes) => sum + bytes, 0);
    return { lines: lines.length, from };
  });
}

/** However far one has scrolled, the page holds no more. */
async function expectBounded(
  page: IJupyterLabPageFixture,
  log: Locator
): Promise<void> {
  expect((await held(page)).lines).toBeLessThanOrEqual(MOST_HELD);
  expect(await log.locator('.jp-t9k-LogRow').count()).toBeLessThan(MOST_ROWS);
}

// A scroll bar that can be dragged.
test.use({
  launchOptions: async ({ launchOptions }, use) => {
    await use({ ...launchOptions, ignoreDefaultArgs: ['--hide-scrollbars'] });
  }
});

test('every place of a log of a million lines is reached, and shows its lines', async ({
  page
}) => {
  await writeFile(page, 'mnist_ddp/counts.py', COUNTS);
  const { id } = await submit(page, 'counts', {
    file: 'mnist_ddp/counts.py',
    processes: RANKS
  });
  await waitForPhase(page, id, 'Succeeded');
  await run(page, 't9kjob:open-job', { id, tab: 'logs' });
  const log = jobTab(page).getByRole('log');
  const atEnd = (lines: IShown[]): boolean =>
    lines[lines.length - 1].step === STEPS - 1;
  const atStart = (lines: IShown[]): boolean => lines[0].step === 0;
  await expectLines(page, log, atEnd);
  const box = await log.boundingBox();
  if (!box) {
    throw new Error('the log is not in view');
  }

  await test.step('by Home and End', async () => {
    await log.press('Home');
    await expectLines(page, log, atStart);
    await log.press('End');
    await expectLines(page, log, atEnd);
    await log.press('Home');
    await expectLines(page, log, atStart);
  });

  await test.step('by Page Down and Page Up, page after page', async () => {
    // The browser takes keys that come while it still scrolls for one: so as often as it needs.
    for (let pages = 0; pages < 12; pages++) {
      const [before] = await expectLines(page, log);
      await expect(async () => {
        await log.press('PageDown');
        expect((await expectLines(page, log))[0]).not.toEqual(before);
      }).toPass({ intervals: [100] });
    }
    await expect(async () => {
      await log.press('PageUp');
      const lines = await shown(log);
      expect(lines && atStart(lines)).toBe(true);
    }).toPass({ intervals: [100] });
    await expectLines(page, log, atStart);
  });

  await test.step('by the wheel, through more lines than are held', async () => {
    await page.mouse.move(box.x + 200, box.y + 200);
    for (let turns = 0; turns < 100; turns++) {
      await page.mouse.wheel(0, 2500);
      if (turns % 20 === 0) {
        await expectLines(page, log);
      }
    }
    // It may still be scrolling.
    const above = (lines: IShown[]): number =>
      RANKS * Math.max(...lines.map(({ step }) => step));
    await expectLines(page, log, lines => above(lines) > MOST_HELD);
  });

  await test.step('by the scroll bar, from end to end', async () => {
    const at = (fraction: number): [number, number] => [
      box.x + box.width - 6,
      box.y + 20 + (box.height - 40) * fraction
    ];
    await log.press('End');
    await expectLines(page, log, atEnd);
    await page.mouse.move(...at(1));
    await page.mouse.down();
    // Ranks that have not written at the same pace are at different parts of their lines.
    let from = Infinity;
    for (const fraction of [0.8, 0.6, 0.4, 0.2]) {
      await page.mouse.move(...at(fraction), { steps: 10 });
      await expect.poll(async () => (await held(page)).from).toBeLessThan(from);
      await expectLines(page, log, lines => !atStart(lines) && !atEnd(lines));
      ({ from } = await held(page));
    }
    await page.mouse.move(...at(-0.1), { steps: 20 });
    await expectLines(page, log, atStart);
    await page.mouse.move(...at(1.1), { steps: 20 });
    await expectLines(page, log, atEnd);
    await page.mouse.up();
  });

  await test.step('by a search on the server', async () => {
    const needle = `step ${STEPS / 2}`;
    await jobTab(page)
      .getByRole('searchbox', { name: 'Search the whole log' })
      .fill(`${needle}$`);
    await jobTab(page)
      .getByRole('button', { name: 'Regular expression' })
      .click();
    await expect(jobTab(page).locator('.jp-t9k-LogSearch-count')).toContainText(
      `of ${RANKS}`
    );
    await expectLines(page, log, lines =>
      lines.some(({ step }) => step === STEPS / 2)
    );
  });
});
