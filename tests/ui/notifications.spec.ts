/** Page “Notifications”: events, a webhook on this machine, test messages, and a message about a job. */
import { createServer, Server } from 'http';
import { AddressInfo } from 'net';
import { expectAccessible } from './helpers/accessible';
import { api, expect, run, submit, test, writeFile } from './helpers/lab';
import { picture } from './helpers/pictures';
import { FAILS } from './helpers/scripts';

let receiver: Server;
let got: { text: string }[] = [];
let status = 200;

test.beforeAll(async () => {
  receiver = createServer((request, response) => {
    let body = '';
    request.on('data', part => (body += part));
    request.on('end', () => {
      got.push(JSON.parse(body));
      response.writeHead(status).end(status === 200 ? 'ok' : 'no_service');
    });
  });
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve));
});

test.afterAll(() => receiver.close());

test('a webhook is set, tested, and told of a failed job', async ({
  page,
  tmpPath
}) => {
  const { port } = receiver.address() as AddressInfo;
  // A repeated test finds the webhook of its first try.
  await page.request.delete(api('notifications', 'webhook'));
  await run(page, 't9kjob:open-notifications');
  const tab = page.locator('.jp-t9k-Notifications');
  await expect(tab.getByRole('row', { name: /^fails/ })).toBeVisible();
  await tab
    .getByLabel('Address', { exact: true })
    .fill(`http://127.0.0.1:${port}/services/secret-9f3a`);
  await tab.getByRole('button', { name: 'Save' }).click();
  await expect(tab.getByText('127.0.0.1, ends in 9f3a')).toBeVisible();
  status = 404;
  await tab.getByRole('button', { name: 'Send a test message' }).click();
  await expect(tab.getByText('Slack answered 404.')).toBeVisible();
  await picture(page, 'notifications');
  await expectAccessible(page);
  status = 200;
  await tab.getByRole('button', { name: 'Send a test message' }).click();
  await expect(tab.getByText('Slack answered 200')).toBeVisible();
  expect(await page.content()).not.toContain('secret-9f3a');
  got = [];
  await writeFile(page, `${tmpPath}/bad.py`, FAILS);
  await submit(page, 'bad', { file: `${tmpPath}/bad.py` });
  await expect.poll(() => got.map(({ text }) => text)).toEqual(['bad failed']);
  await run(page, 't9kjob:open-notifications');
  await tab.getByRole('button', { name: 'Delete' }).click();
  await expect(tab.getByRole('button', { name: 'Save' })).toBeVisible();
});
