/** The lab in Chinese: the package's own translations beside JupyterLab's language pack; nothing is cut off. */
import { expect, test } from '@playwright/test';
import { leaveOutUnused, run } from './helpers/lab';
import { OwnLab } from './helpers/ownLab';
import { picture } from './helpers/pictures';
import { chooseLanguage, shownBy } from './helpers/pseudo';
import { FAILS } from './helpers/scripts';

let lab: OwnLab;

test.beforeEach(({ context }) => leaveOutUnused(context));

test.beforeAll(async () => {
  lab = new OwnLab('chinese-lab');
  chooseLanguage(lab.settings, 'zh_CN');
  await lab.start();
});

test.afterAll(() => lab.kill());

test('six screens are Chinese and nothing is cut off', async ({ page }) => {
  const id = await lab.submit(page.request, 'fails', FAILS);
  await page.goto(`${lab.url}/lab?reset`);
  await page.locator('.jp-Launcher-body').waitFor();

  const see = async (name: string, part: string, shows: string) => {
    const panel = page.locator(part).filter({ visible: true, hasText: shows });
    await panel.first().waitFor();
    expect((await shownBy(panel.first(), /./gu)).cut, name).toEqual([]);
    await picture(page, `chinese-${name}`);
  };
  await run(page, 'tabsmenu:activate-by-id', { id: 't9kjob-monitor' });
  await see('sidebar', '.jp-t9k-Monitor', '失败');
  // A text with a number, of which Chinese has one form.
  await expect(page.locator('.jp-t9k-Monitor')).toContainText('个核心');
  for (const [tab, shows] of [
    ['overview', '工作目录'],
    ['replicas', '副本'],
    ['logs', '日志']
  ]) {
    await run(page, 't9kjob:open-job', { id, tab });
    await see(tab, '.jp-t9k-Job', shows);
  }
  await run(page, 't9kjob:open-all-jobs');
  await see('all-jobs', '.jp-t9k-AllJobs', '作业');
  await run(page, 't9kjob:launch', { path: 'fails.py' });
  await see('form', '.jp-t9k-Launch', '提交');
});

test('the server answers in Chinese', async ({ request }) => {
  const answer = await request.get(`${lab.url}/t9kjob/jobs/local%3A%3Aa%3Ab`);
  expect(answer.status()).toBe(404);
  expect((await answer.json()).message).toMatch(/作业/);
  const settings = await request.get(
    `${lab.url}/lab/api/settings/jupyterlab_t9kjob:plugin`
  );
  expect((await settings.json()).schema.title).toMatch(/作业/);
});
