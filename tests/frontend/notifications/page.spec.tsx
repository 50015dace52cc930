/** The page of notifications: the test of the webhook, and a change of the service. */
import { nullTranslator } from '@jupyterlab/translation';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { readFileSync } from 'fs';
import * as React from 'react';
import { Delivery, Notifications, Webhook } from '../../../src/api/types';
import { NotificationsClient } from '../../../src/notifications/client';
import {
  KINDS,
  NotificationSettings
} from '../../../src/notifications/model/settings';
import { NotificationsView } from '../../../src/notifications/view/NotificationsView';
import { FakeServer, json } from '../fakes';

const trans = nullTranslator.load('');

const delivery = (sentence: string): Delivery => ({
  ...{ ok: false, time: 1000, sentence, hint: null },
  ...{ verbatim: null, title: null }
});

const webhook: Webhook = {
  ...{ id: 'own', service: 'slack', name: '', ends_with: '9f3a' },
  ...{ host: 'hooks.example', has_key: false, keyword: '', locked: false },
  last: delivery('Slack answered 404.')
};

const state: Notifications = {
  rules: {
    ...{ kinds: [], late_minutes: 10, waiting_minutes: 30, mention: '' },
    ...{ lines: true, arguments: false, lab_address: 'http://lab/' }
  },
  webhooks: [webhook],
  problems: []
};

const isPut = ({ method }: { method: string }): boolean => method === 'PUT';

const withMention = (mention: string): Notifications => ({
  ...state,
  rules: { ...state.rules, mention }
});

/** The page, and a function that lets the service answer. */
async function page() {
  const server = new FakeServer();
  let answer: (sentence: string) => void = () => undefined;
  server.answer = ({ url }) =>
    url.endsWith('/test')
      ? new Promise(resolve => {
          answer = sentence => resolve(json(delivery(sentence)));
        })
      : url.endsWith('/notifications')
        ? json(state)
        : json({
            ...{ title: 'mnist failed', text: null, facts: [], lines: [] },
            ...{ mention: '', links: [], body: {}, size: 2 }
          });
  const settings = new NotificationSettings(
    new NotificationsClient(server.settings()),
    null
  );
  render(<NotificationsView settings={settings} trans={trans} />);
  await settings.load();
  await screen.findByText(/Slack answered 404/);
  return { answer: (sentence: string) => answer(sentence), server };
}

it('says that a test message is sent, and hides the answer to the one before', async () => {
  const { answer, server } = await page();
  fireEvent.click(screen.getByRole('button', { name: 'Send a test message' }));
  const sending = await screen.findByRole('button', { name: 'Sending…' });
  expect((sending as HTMLButtonElement).disabled).toBe(true);
  expect(screen.queryByText(/Slack answered 404/)).toBeNull();
  await waitFor(() =>
    expect(server.requests.some(({ url }) => url.endsWith('/test'))).toBe(true)
  );
  answer('No answer within 10 s.');
  await screen.findByText(/No answer within 10 s/);
  screen.getByRole('button', { name: 'Send a test message' });
});

it('tests only the service that is shown, and names the webhook that another service replaces', async () => {
  await page();
  fireEvent.click(screen.getByText('Feishu'));
  expect(screen.queryByText('Send a test message')).toBeNull();
  screen.getByText(/A new one replaces that of Slack \(hooks\.example\)/);
  fireEvent.click(screen.getByText('Slack'));
  screen.getByText('Send a test message');
});

it('shows the mention that the server has after the defaults are restored', async () => {
  const { server } = await page();
  const field = screen.getByRole<HTMLInputElement>('textbox', {
    name: 'Mention'
  });
  const answer = server.answer;
  server.answer = request =>
    request.method === 'PUT' ? json(withMention('@alice')) : answer(request);
  fireEvent.change(field, { target: { value: '@alice' } });
  fireEvent.blur(field);
  await waitFor(() => expect(server.requests.some(isPut)).toBe(true));
  server.answer = request =>
    request.method === 'PUT' ? json(withMention('')) : answer(request);
  fireEvent.click(screen.getByText('Restore the defaults'));
  await waitFor(() => expect(field.value).toBe(''));
  const before = server.requests.filter(isPut).length;
  fireEvent.blur(field);
  expect(server.requests.filter(isPut)).toHaveLength(before);
});

it('has a title for each event in the editor of the settings', () => {
  const { properties } = JSON.parse(
    readFileSync('jupyterlab_t9kjob/schema/plugin.json', 'utf8')
  );
  for (const name of ['notifyInLab', 'notifyInBrowser']) {
    const { oneOf } = properties[name].items as {
      oneOf: { const: string; title: string }[];
    };
    expect(oneOf.map(event => event.const)).toEqual(KINDS);
    expect(oneOf.every(({ title }) => /^[A-Z].* /.test(title))).toBe(true);
  }
});
