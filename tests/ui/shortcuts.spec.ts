/** Keyboard shortcuts: those of the schema, and a user's own. */
import {
  expect,
  jobTab,
  mainTab,
  run,
  submit,
  test,
  waitForPhase,
  writeFile
} from './helpers/lab';
import { GREETS } from './helpers/scripts';

const SHORTCUTS = '@jupyterlab/shortcuts-extension:shortcuts';

test('keys act on the log that has the focus', async ({ page, tmpPath }) => {
  const file = `${tmpPath}/greet.py`;
  await writeFile(page, file, GREETS);
  const { id } = await submit(page, 'greets', { file });
  await waitForPhase(page, id, 'Succeeded');
  await run(page, 't9kjob:open-job', { id, tab: 'logs' });
  const job = jobTab(page);
  const log = job.getByRole('log');
  const times = job.getByRole('button', { name: 'Times (T)' });
  // By then the tab has given its focus to a part of the page, and takes the log's no more.
  await expect(log).toContainText('Hello from a job');
  await log.focus();
  await expect(log).toBeFocused();
  await expect(times).toHaveAttribute('aria-pressed', 'true');
  await page.keyboard.press('t');
  await expect(times).toHaveAttribute('aria-pressed', 'false');
  await page.keyboard.press('Control+f');
  const field = job.getByRole('searchbox');
  await expect(field).toBeFocused();
  await page.keyboard.type('that');
  await expect(field).toHaveValue('that'); // a letter that is typed is no shortcut
  await expect(times).toHaveAttribute('aria-pressed', 'false');
});

test.describe('of a user', () => {
  test.use({
    mockSettings: {
      [SHORTCUTS]: {
        shortcuts: [
          {
            command: 't9kjob:submit',
            keys: ['Accel Enter'],
            selector: '.jp-t9k-Launch',
            disabled: true
          },
          {
            command: 't9kjob:submit',
            keys: ['Accel Alt S'],
            selector: '.jp-t9k-Launch'
          }
        ]
      }
    }
  });

  test('replace those of the schema', async ({ page, tmpPath }) => {
    await writeFile(page, `${tmpPath}/train.py`, GREETS);
    await run(page, 't9kjob:launch', { path: `${tmpPath}/train.py` });
    const form = page.getByRole('form', { name: 'Run train.py' });
    const button = form.getByRole('button', { name: 'Submit' });
    await expect(button).toHaveAttribute('title', 'Submit (Ctrl+Alt+S)');
    const name = form.getByLabel('Name', { exact: true });
    await name.press('Control+Enter');
    await expect(mainTab(page, 'Run train.py')).toBeVisible();
    await name.press('Control+Alt+s');
    await expect(
      jobTab(page).getByRole('heading', { name: 'train-1' })
    ).toBeVisible();
  });
});
