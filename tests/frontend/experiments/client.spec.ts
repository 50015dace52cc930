import { ExperimentsClient } from '../../../src/experiments/client';
import { FakeServer, json } from '../fakes';

describe('the client of experiments', () => {
  it('has all folders listed if a run is unknown, then asks again', async () => {
    const server = new FakeServer();
    const paths: string[] = [];
    server.answer = ({ url }) => {
      const { pathname } = new URL(url);
      paths.push(pathname.replace(/.*experiments/, ''));
      return paths.length === 1
        ? json({ message: 'No run', code: 'NoSuchRun' }, 404)
        : json({ run: { id: 'a' }, runs: [] });
    };
    const client = new ExperimentsClient(server.settings());
    expect((await client.run('a')).run.id).toBe('a');
    expect(paths).toEqual(['/runs/a', '/runs', '/runs/a']);
  });
});
