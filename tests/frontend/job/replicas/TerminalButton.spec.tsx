/** The button that opens a terminal in a replica, and the connection of the terminal. */
import { ServerConnection } from '@jupyterlab/services';
import { nullTranslator } from '@jupyterlab/translation';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import * as React from 'react';
import { TerminalList } from '../../../../src/api/types';
import { TerminalButton } from '../../../../src/job/replicas/TerminalButton';
import { ShellConnection } from '../../../../src/terminal/connection';
import { someReplica } from '../../fakeJob';

const trans = nullTranslator.load('');
const AVAILABLE = { supported: true, reason: null };

/** Render the button with what the server offers; return the function that opens a terminal. */
function show(
  terminals: TerminalList | null,
  search: (replica: string) => Promise<TerminalList> = jest.fn()
): jest.Mock {
  const open = jest.fn();
  const replica = someReplica({ name: 'worker-0' });
  render(<TerminalButton {...{ replica, terminals, search, open, trans }} />);
  fireEvent.click(screen.getByRole('button'));
  return open;
}

describe('TerminalButton', () => {
  afterEach(() =>
    document.querySelectorAll('.lm-Menu').forEach(menu => menu.remove())
  );

  it('opens the only terminal at once', () => {
    const place = { replica: 'worker-0', rank: null };
    const other = { replica: 'worker-1', rank: null };
    const open = show({
      available: AVAILABLE,
      places: [place, other],
      searchable: []
    });
    expect(open.mock.calls).toEqual([[place]]);
  });

  it('offers the ranks in a menu', () => {
    const places = [null, 0, 1].map(rank => ({ replica: 'worker-0', rank }));
    const open = show({ available: AVAILABLE, places, searchable: [] });
    expect(open).not.toHaveBeenCalled();
    const items = [...document.querySelectorAll('.lm-Menu-itemLabel')];
    expect(items.map(({ textContent }) => textContent)).toEqual([
      'worker-0',
      'Rank 0',
      'Rank 1'
    ]);
  });

  it('searches a replica for ranks without a log of their own', async () => {
    const place = (rank: number | null) => ({ replica: 'worker-0', rank });
    const known: TerminalList = {
      available: AVAILABLE,
      places: [place(null)],
      searchable: ['worker-0']
    };
    const search = jest.fn(async () => ({
      ...known,
      places: [null, 4, 5].map(place)
    }));
    const open = show(known, search);
    expect(search.mock.calls).toEqual([['worker-0']]);
    const button = screen.getByRole('button');
    expect(button.getAttribute('aria-busy')).toBe('true');
    fireEvent.click(button); // a second click searches no second time
    expect(search).toHaveBeenCalledTimes(1);
    await waitFor(() =>
      expect(document.querySelectorAll('.lm-Menu-itemLabel')).toHaveLength(3)
    );
    const items = [...document.querySelectorAll('.lm-Menu-itemLabel')];
    expect(items.map(({ textContent }) => textContent)).toEqual([
      'worker-0',
      'Rank 4',
      'Rank 5'
    ]);
    expect(open).not.toHaveBeenCalled();
  });

  it('opens the replica itself when it can not be searched', async () => {
    const place = { replica: 'worker-0', rank: null };
    const open = show(
      { available: AVAILABLE, places: [place], searchable: ['worker-0'] },
      async () => {
        throw new Error('cut');
      }
    );
    await waitFor(() => expect(open.mock.calls).toEqual([[place]]));
  });

  it.each([
    [{ supported: false, reason: 'Not allowed.' }, 'Not allowed.'],
    [AVAILABLE, 'The replica does not run.']
  ])('is disabled with the reason', (available, reason) => {
    const open = show({ available, places: [], searchable: [] });
    expect(open).not.toHaveBeenCalled();
    const button = screen.getByRole('button', { name: 'Terminal in worker-0' });
    expect(button.getAttribute('aria-disabled')).toBe('true');
    const described = button.getAttribute('aria-describedby') ?? '';
    expect(document.getElementById(described)?.textContent).toBe(reason);
  });
});

/** A WebSocket that records what is sent. */
class FakeSocket {
  static last: FakeSocket;
  constructor(readonly url: string) {
    FakeSocket.last = this;
  }
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  readonly sent: unknown[] = [];
  isClosed = false;
  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }
  close(): void {
    this.isClosed = true;
  }
  get(...message: unknown[]): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
}

describe('ShellConnection', () => {
  const connect = (): [ShellConnection, FakeSocket] => {
    const settings = ServerConnection.makeSettings({
      wsUrl: 'ws://lab/',
      WebSocket: FakeSocket as unknown as typeof WebSocket
    });
    const place = { id: 'local::a:b', replica: 'worker-0', rank: 3 };
    const connection = new ShellConnection(settings, place);
    return [connection, FakeSocket.last];
  };

  it('acknowledges output after it was shown, and cuts long input', () => {
    jest.useFakeTimers();
    const [connection, socket] = connect();
    expect(socket.url).toContain(
      'ws://lab/t9kjob/jobs/local%3A%3Aa%3Ab/terminal?replica=worker-0&rank=3&acks=true'
    );
    const shown: unknown[] = [];
    connection.messageReceived.connect((_, message) => shown.push(message));
    connection.send({ type: 'set_size', content: [24, 80, 1, 1] });
    expect(socket.sent).toEqual([]);
    socket.get('setup', {});
    expect(connection.connectionStatus).toBe('connected');
    expect(socket.sent).toEqual([['set_size', 24, 80]]);
    socket.get('stdout', 'abc');
    expect(shown).toEqual([{ type: 'stdout', content: ['abc'] }]);
    expect(socket.sent).toHaveLength(1);
    jest.runAllTimers();
    expect(socket.sent[1]).toEqual(['ack', 3]);
    connection.send({ type: 'stdin', content: ['x'.repeat(70_000)] });
    expect(
      socket.sent.slice(2).map(message => (message as string[])[1].length)
    ).toEqual([32768, 32768, 4464]);
    // A character outside of the basic plane has two units, which stay together.
    const emoji = 'x' + '\u{1F600}'.repeat(20_000);
    connection.send({ type: 'stdin', content: [emoji] });
    const pieces = socket.sent.slice(5).map(each => (each as string[])[1]);
    expect(pieces.map(piece => piece.length)).toEqual([32767, 7234]);
    expect(pieces.join('')).toBe(emoji);
    jest.useRealTimers();
  });

  it('tells why the shell has ended, and closes its socket with the tab', async () => {
    const [connection, socket] = connect();
    socket.get('setup', {});
    socket.get('ended', { code: 'JobEnded', message: 'Over.' });
    socket.get('disconnect', 1);
    socket.onclose?.();
    expect(connection.connectionStatus).toBe('disconnected');
    expect(connection.end?.message).toBe('Over.');
    await connection.shutdown();
    expect(socket.isClosed && connection.isDisposed).toBe(true);
  });
});
