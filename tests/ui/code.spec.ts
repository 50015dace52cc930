/** The code of a job: a snapshot and a git repository in the form, and on the page of its job. */
import { execFileSync } from 'child_process';
import { mkdtempSync, writeFileSync } from 'fs';
import { tmpdir } from 'os';
import path from 'path';
import { expectAccessible } from './helpers/accessible';
import {
  absolute,
  expect,
  jobTab,
  mainArea,
  run,
  test,
  writeFile
} from './helpers/lab';
import { picture } from './helpers/pictures';

/** Run git in a folder. */
function git(folder: string, ...words: string[]): void {
  const user = ['-c', 'user.name=lin', '-c', 'user.email=lin@example.org'];
  const branch = ['-c', 'init.defaultBranch=main'];
  execFileSync('git', [...user, ...branch, ...words], { cwd: folder });
}

test('a repository from the form to the page of its job', async ({
  page,
  tmpPath
}) => {
  const origin = path.join(mkdtempSync(path.join(tmpdir(), 'code-')), 'a.git');
  await writeFile(page, `${tmpPath}/train.py`, 'import helper\n');
  const folder = await absolute(page, tmpPath);
  writeFileSync(path.join(folder, 'helper.py'), 'print("first")\n');
  git(folder, 'init', '--quiet');
  git(folder, 'add', '.');
  git(folder, 'commit', '--quiet', '-m', 'first');
  git(folder, 'clone', '--quiet', '--bare', folder, origin);
  git(folder, 'remote', 'add', 'origin', `file://${origin}`);
  git(folder, 'fetch', '--quiet', 'origin');
  writeFileSync(path.join(folder, 'helper.py'), 'print("mine")\n');

  await run(page, 't9kjob:launch', { path: `${tmpPath}/train.py` });
  const form = mainArea(page).getByRole('form', { name: 'Run train.py' });
  const group = form.getByRole('group', { name: 'Code', exact: true }).first();
  await form.getByRole('button', { name: /^Code/ }).click();
  await form.getByRole('radio', { name: 'Snapshot at submission' }).click();
  const copied = form.getByRole('region', { name: 'What is copied' });
  const row = copied.getByRole('row', { name: /helper\.py/ });
  await expect(row).toContainText('changed');
  await row.getByRole('button').click();
  await expect(copied).toContainText('print("mine")');
  await group.scrollIntoViewIfNeeded();
  await expectAccessible(page);
  await picture(page, 'launch-snapshot');
  await form.getByRole('radio', { name: 'Git repository' }).click();
  await expect(form.getByLabel('Address')).toHaveValue(`file://${origin}`);
  await expect(form.getByLabel('Branch or commit')).toHaveValue('main');
  await expect(form).toContainText('1 file of your clone differs from it.');
  await expect(form).toContainText('1 file of the lab differs from');
  await group.scrollIntoViewIfNeeded();
  await expectAccessible(page);
  await picture(page, 'launch-git');

  await form.getByLabel('Branch or commit').fill('gone');
  await expect(form).toContainText('There is no branch, tag or commit gone');
  await form.getByLabel('Branch or commit').fill('main');
  await expect(form).toContainText('main of');
  await form.getByRole('button', { name: 'Submit' }).click();
  const code = jobTab(page).getByRole('region', { name: 'Code' });
  await expect(code).toContainText('1 file of your clone differs');
  await code.getByRole('button', { name: 'Show files' }).click();
  await code.getByRole('button', { name: 'helper.py' }).click();
  await expect(code).toContainText('print("mine")');
  await code.getByRole('button', { name: 'Restore', exact: true }).click();
  await expect(code).toContainText('2 files written to');
  await expectAccessible(page);
  await picture(page, 'job-git');
});
