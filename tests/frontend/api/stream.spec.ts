import { JsonSocket } from '../../../src/api/stream';
import { FakeServer } from '../fakes';

describe('JsonSocket', () => {
  let server: FakeServer;
  let socket: JsonSocket<object, object>;

  beforeEach(() => {
    jest.useFakeTimers();
    server = new FakeServer();
    socket = new JsonSocket(server.settings(), ['jobs', 'local::a:u', 'logs']);
  });

  afterEach(() => {
    socket.dispose();
    jest.useRealTimers();
  });

  it('puts the token into the address only when it is asked to', () => {
    const path = 'ws://lab/user/a%40b/t9kjob/jobs/local%3A%3Aa%3Au/logs';
    expect(server.socket.url).toBe(`${path}?token=secret`);
    const plain = new JsonSocket(server.settings({ appendToken: false }), [
      'x'
    ]);
    expect(server.socket.url).toBe('ws://lab/user/a%40b/t9kjob/x');
    plain.dispose();
  });

  it('passes messages both ways once it is open', () => {
    const received: object[] = [];
    socket.received.connect((_, message) => received.push(message));
    socket.send({ lost: true });
    server.socket.open();
    socket.send({ type: 'subscribe' });
    server.socket.push({ type: 'snapshot' });
    expect(server.socket.sent).toEqual([{ type: 'subscribe' }]);
    expect(received).toEqual([{ type: 'snapshot' }]);
  });

  it('tries again later and later, and starts over after a success', () => {
    const waits: number[] = [];
    socket.closed.connect(() => {
      waits.push((socket.nextTry ?? 0) - Date.now());
    });
    for (let i = 0; i < 8; i++) {
      const tries = server.sockets.length;
      server.socket.break();
      jest.advanceTimersByTime(waits[i] - 1);
      expect(server.sockets.length).toBe(tries);
      jest.advanceTimersByTime(1);
      expect(server.sockets.length).toBe(tries + 1);
    }
    waits.forEach((wait, i) => {
      const longest = Math.min(1000 * 2 ** i, 3000);
      expect(wait).toBeGreaterThanOrEqual(longest / 2);
      expect(wait).toBeLessThanOrEqual(longest);
    });
    server.socket.open();
    server.socket.break();
    expect(waits[8]).toBeLessThanOrEqual(1000);
  });

  it('rests longer where nobody looks, or after some minutes, and tries at once when the page is seen', () => {
    const hide = (hidden: boolean): void => {
      Object.defineProperty(document, 'visibilityState', {
        value: hidden ? 'hidden' : 'visible',
        configurable: true
      });
      document.dispatchEvent(new Event('visibilitychange'));
    };
    const fail = (): number => {
      server.socket.break();
      return (socket.nextTry ?? 0) - Date.now();
    };
    const failAgain = (times: number): number => {
      let wait = 0;
      for (let i = 0; i < times; i++) {
        wait = fail();
        jest.advanceTimersByTime(wait);
      }
      return wait;
    };
    hide(true);
    expect(failAgain(7)).toBeGreaterThanOrEqual(15_000);
    fail();
    const tries = server.sockets.length;
    hide(false);
    expect(server.sockets.length).toBe(tries + 1);
    expect(fail()).toBeLessThanOrEqual(3000);
    jest.advanceTimersByTime(5 * 60_000);
    expect(fail()).toBeGreaterThanOrEqual(15_000);
  });

  it('connects at once when asked, and when the machine is online again', () => {
    server.socket.break();
    socket.reconnect();
    expect(server.sockets.length).toBe(2);
    server.socket.break();
    window.dispatchEvent(new Event('online'));
    expect(server.sockets.length).toBe(3);
    server.socket.open();
    socket.reconnect();
    expect(server.sockets.length).toBe(3);
  });

  it('is silent after it was disposed', () => {
    const last = server.socket;
    socket.dispose();
    expect(last.closed).toBe(true);
    window.dispatchEvent(new Event('online'));
    jest.advanceTimersByTime(60_000);
    expect(server.sockets.length).toBe(1);
  });
});
