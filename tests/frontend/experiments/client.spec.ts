import { ExperimentsClient } from '../../../src/experiments/client';
import { FakeServer, json } from '../fakes';

describe('the client of experiments', () => {
  const searching = { message: 'Still searched', code: 'StillSearching' };

  it.each([
    ['run', '/runs/a', (client: ExperimentsClient) => client.run('a')],
    [
      'artifact',
      '/artifacts/a',
      (client: ExperimentsClient) => client.artifact('a')
    ]
  ])('waits for a search that may find the %s', async (_kind, path, read) => {
    const server = new FakeServer();
    server.answer = () =>
      server.requests.length < 3
        ? json(searching, 503)
        : json({ message: 'None', code: 'NoSuchRun' }, 404);
    const answer = read(new ExperimentsClient(server.settings()));
    await expect(answer).rejects.toMatchObject({ status: 404 });
    const paths = server.requests.map(({ url }) =>
      new URL(url).pathname.replace(/.*experiments/, '')
    );
    expect(paths).toEqual([path, path, path]);
  });

  it('says other errors at once', async () => {
    const server = new FakeServer();
    server.answer = () => json({ message: 'Silent', code: 'DiskSilent' }, 503);
    const client = new ExperimentsClient(server.settings());
    await expect(client.run('a')).rejects.toMatchObject({ code: 'DiskSilent' });
    expect(server.requests).toHaveLength(1);
  });
});
