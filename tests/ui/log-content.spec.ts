/** Any output of a script is shown as text: nothing is executed, and nothing breaks the log. */
import type { Locator } from '@playwright/test';
import {
  expect,
  jobTab,
  run,
  submit,
  waitForPhase,
  writeFile
} from './helpers/lab';
import { test } from './helpers/samePage';

const WRITES_ANYTHING = `
import sys

write = sys.stdout.buffer.write
lines = [
    b"first line",
    b"<img src=x onerror='window.hacked=1'><script>window.hacked=2</script>",
    b"\\x1b]8;;javascript:window.hacked=3\\x1b\\\\a link\\x1b]8;;\\x1b\\\\",
    b"\\x1b]0;a title\\x07\\x1b[2J\\x1b[1;1H\\x1b[31mred\\x1b[0m plain \\x1b[9999999m",
    b"nul \\x00, bell \\x07, backspace \\x08, delete \\x7f",
    "right to left: \\u202egpj.exe\\u202c, isolate \\u2067x\\u2069, line \\u2028 separator".encode(),
    b"not UTF-8: \\xff\\xfe\\xc3(",
    b'  File "javascript:alert(1)", line 1, in <module>',
    b'  File "../../../etc/passwd", line 1, in <module>',
    b"a\\u0300" * 40 + "\\u0301".encode() * 400 + "\\U0001f600\\ufdfd\\u3164".encode(),
    b"\\r".join(b"bar %d" % i for i in range(10_001)),
    b"x" * 20_000_000 + b"end of the long line",
    b"last line",
]
write(b"\\n".join(lines) + b"\\n")
`;

/** Shown text of the line that contains a text. */
function row(log: Locator, text: string): Locator {
  return log.locator('.jp-t9k-LogRow').filter({ hasText: text });
}

test('anything that a script writes is shown as text', async ({ page }) => {
  const dialogs: string[] = [];
  page.on('dialog', dialog => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  await writeFile(page, 'mnist_ddp/noise.py', WRITES_ANYTHING);
  const { id } = await submit(page, 'noise', { file: 'mnist_ddp/noise.py' });
  await waitForPhase(page, id, 'Succeeded');
  await run(page, 't9kjob:open-job', { id, tab: 'logs' });
  const job = jobTab(page);
  const log = job.getByRole('log');
  const text = (part: string): Locator =>
    row(log, part).locator('.jp-t9k-LogRow-text');

  await test.step('all lines are there, up to the last', async () => {
    await expect(text('last line')).toBeVisible();
    await expect(log.locator('.jp-t9k-LogRow')).toHaveCount(13);
    await expect(job.locator('.jp-t9k-LogStatus')).toContainText('13 lines');
  });

  await test.step('markup is text', async () => {
    await expect(text('<img')).toHaveText(
      "<img src=x onerror='window.hacked=1'><script>window.hacked=2</script>"
    );
    await expect(log.locator('img, script, iframe, a, [onerror]')).toHaveCount(
      0
    );
  });

  await test.step('control sequences are symbols, colours are colours', async () => {
    await expect(text('a link')).toHaveText('a link');
    await expect(text('a title')).toContainText('␛[2J');
    const red = text('a title').getByText('red', { exact: true });
    await expect(red).toHaveCSS('color', /rgb\(1\d\d, \d+, \d+\)/);
    await expect(text('nul')).toHaveText(
      'nul ␀, bell ␇, backspace ␈, delete ␡'
    );
    await expect(text('right to left')).toContainText(
      '<U+202E>gpj.exe<U+202C>'
    );
    await expect(text('right to left')).toContainText(
      'line <U+2028> separator'
    );
    await expect(text('not UTF-8')).toHaveText('not UTF-8: ���(');
  });

  await test.step('what is outside of the lab is no link', async () => {
    await expect(text('etc/passwd').getByRole('button')).toHaveCount(0);
  });

  await test.step('a progress bar is one line, and opens', async () => {
    const bar = row(log, 'bar 10000');
    await expect(bar).toContainText('10 001 updates in one line');
    await bar.getByRole('button', { name: 'All updates of this line' }).click();
    await expect(bar).toContainText('bar 9999');
    await expect(bar.locator('.jp-t9k-LogRow-updates > div')).toHaveCount(301);
    await bar.getByRole('button', { name: 'All updates of this line' }).click();
    await expect(bar).not.toContainText('bar 9999');
  });

  await test.step('a line of 20 MB is cut, and there as a whole', async () => {
    const long = row(log, 'xxxxx');
    expect((await long.innerText()).length).toBeLessThan(20_000);
    await expect(long).toContainText('the whole line has 20 MB');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      long.getByRole('button', { name: 'Download it' }).click()
    ]);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) {
      chunks.push(chunk as Buffer);
    }
    const bytes = Buffer.concat(chunks);
    expect(bytes.length).toBe(20_000_021);
    expect(bytes.subarray(-21).toString()).toBe('end of the long line\n');
  });

  await test.step('all rows are as high as one line, and none lies over another', async () => {
    await expect(async () => {
      const boxes = await log.locator('.jp-t9k-LogRow').evaluateAll(rows =>
        rows.map(element => {
          const { top, height } = element.getBoundingClientRect();
          return { top, height };
        })
      );
      const { height } = boxes[0];
      boxes.forEach((box, index) => {
        expect(box.height).toBeCloseTo(height, 1);
        expect(box.top).toBeCloseTo(boxes[0].top + index * height, 1);
      });
    }).toPass();
  });

  await test.step('wrapped, they are still below each other', async () => {
    await job.getByRole('button', { name: 'Wrap long lines (W)' }).click();
    await expect(text('last line')).toBeVisible();
    await expect
      .poll(() =>
        log.locator('.jp-t9k-LogRow').evaluateAll(rows =>
          rows.every((element, index) => {
            const before = rows[index - 1]?.getBoundingClientRect();
            const { top } = element.getBoundingClientRect();
            return !before || Math.abs(before.bottom - top) < 1;
          })
        )
      )
      .toBe(true);
    await job.getByRole('button', { name: 'Wrap long lines (W)' }).click();
  });

  await test.step('copying gives the text', async () => {
    await log.press('Home');
    await expect(log.locator('.jp-t9k-LogRow')).toHaveCount(13);
    await expect(text('first line')).toBeInViewport();
    const copied = await log.evaluate(element => {
      const texts = element.querySelectorAll('.jp-t9k-LogRow-text');
      const [first, nul] = [texts[0], texts[4]];
      document
        .getSelection()
        ?.setBaseAndExtent(first, 0, nul, nul.childNodes.length);
      const data = new DataTransfer();
      element.dispatchEvent(
        new ClipboardEvent('copy', {
          clipboardData: data,
          bubbles: true,
          cancelable: true
        })
      );
      return data.getData('text/plain').split('\n');
    });
    expect(copied).toHaveLength(5);
    expect(copied[0]).toBe('first line');
    expect(copied[1]).toContain("<img src=x onerror='window.hacked=1'>");
    expect(copied[4]).toBe('nul ␀, bell ␇, backspace ␈, delete ␡');
  });

  expect(dialogs).toEqual([]);
  expect(
    await page.evaluate(() => (window as { hacked?: number }).hacked)
  ).toBeUndefined();
  await expect(page).not.toHaveTitle(/a title/);
});

test('which lines are in view is said, wherever one scrolls', async ({
  page
}) => {
  await writeFile(
    page,
    'mnist_ddp/lines.py',
    `
for number in range(1, 401):
    print(f"line {number}", "of several words" * (number % 50), flush=True)
`
  );
  const { id } = await submit(page, 'lines', { file: 'mnist_ddp/lines.py' });
  await waitForPhase(page, id, 'Succeeded');
  await run(page, 't9kjob:open-job', { id, tab: 'logs' });
  const job = jobTab(page);
  const log = job.getByRole('log');
  const expectSaid = async (): Promise<void> => {
    await expect(async () => {
      const seen = await log.evaluate(element => {
        const { top, bottom } = element.getBoundingClientRect();
        return Array.from(element.querySelectorAll('.jp-t9k-LogRow'))
          .filter(row => {
            const place = row.getBoundingClientRect();
            return place.bottom > top + 1 && place.top < bottom - 1;
          })
          .map(row => Number(/line (\d+)/.exec(row.textContent ?? '')?.[1]));
      });
      const [first, last] = [Math.min(...seen), Math.max(...seen)];
      await expect(job.locator('.jp-t9k-LogStatus')).toContainText(
        `lines ${first} – ${last}`,
        { timeout: 2000 }
      );
    }).toPass();
  };

  await expect(row(log, 'line 400')).toBeInViewport();
  await expectSaid();
  for (const key of [
    'PageUp',
    'ArrowUp',
    'Home',
    'PageDown',
    'w',
    'PageDown'
  ]) {
    await log.press(key);
    await expectSaid();
  }
});
