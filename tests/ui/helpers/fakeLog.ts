import type { Page } from '@playwright/test';
import type {
  LogLine,
  LogMessage,
  LogRequest,
  LogStream
} from '../../../src/api/types';

/** Take the place of a job's log: a few lines, all of which are there at once; before the page is loaded. */
export async function tellLog(
  page: Page,
  streams: LogStream[],
  lines: LogLine[]
): Promise<void> {
  const after = Object.fromEntries(
    streams.map(({ id, size }) => [id, size] as const)
  );
  const before = Object.fromEntries(streams.map(({ id }) => [id, 0] as const));
  await page.routeWebSocket(/\/t9kjob\/jobs\/[^/]+\/logs/, socket => {
    const send = (message: LogMessage): void =>
      socket.send(JSON.stringify(message));
    send({ type: 'streams', streams });
    socket.onMessage(text => {
      const message = JSON.parse(String(text)) as LogRequest;
      if (message.type === 'read') {
        const { request } = message;
        const all = { lines, before, after, at_start: true, at_end: true };
        send({ type: 'page', request, ...all });
      } else if (message.type === 'follow') {
        send({
          type: 'append',
          sequence: 1,
          lines: [],
          after,
          caught_up: true
        });
      }
    });
  });
}
