import { ApiClient } from '../../../src/api/client';
import { ApiError } from '../../../src/api/errors';
import { FakeServer, json, someJob } from '../fakes';

describe('ApiClient', () => {
  let server: FakeServer;
  let client: ApiClient;

  beforeEach(() => {
    server = new FakeServer();
    client = new ApiClient(server.settings());
  });

  const refusal = async (promise: Promise<unknown>): Promise<ApiError> => {
    const error = await promise.then(
      () => null,
      (reason: unknown) => reason
    );
    expect(error).toBeInstanceOf(ApiError);
    return error as ApiError;
  };

  it('keeps an encoded base URL and encodes ids', async () => {
    server.answer = () => json(someJob());
    await client.job('local::a/../b:u 1');
    expect(server.requests[0].url).toBe(
      'http://lab/user/a%40b/t9kjob/jobs/local%3A%3Aa%2F..%2Fb%3Au%201'
    );
  });

  it('repeats a list in the query and leaves out what is not given', async () => {
    server.answer = () => json({ jobs: [], total: 0 });
    await client.jobs({ phase: ['Running', 'Paused'], limit: 10 });
    expect(server.requests[0].url).toMatch(
      /\/jobs\?phase=Running&phase=Paused&limit=10$/
    );
  });

  it('sends bodies as JSON and deletes with the choice', async () => {
    server.answer = () => json(someJob(), 202);
    await client.deleteJob('local::a:u', true);
    expect(server.requests[0]).toMatchObject({
      method: 'DELETE',
      url: expect.stringMatching(/\?remove=true$/)
    });
    await client.openTensorBoard({ paths: ['runs'] });
    expect(server.requests[1]).toMatchObject({
      method: 'POST',
      body: { paths: ['runs'] }
    });
  });

  it('gives null where there is no content', async () => {
    server.answer = () => json(null, 204);
    expect(await client.act('local::a:u', 'remove')).toBeNull();
  });

  it('rejects with everything that the server says', async () => {
    server.answer = () =>
      json(
        {
          message: 'The name is taken.',
          code: 'Conflict',
          field: '/spec/name',
          hint: 'Choose another.',
          verbatim: 'EEXIST'
        },
        409
      );
    const error = await refusal(client.act('local::a:u', 'stop'));
    expect(error).toMatchObject({
      status: 409,
      message: 'The name is taken.',
      code: 'Conflict',
      field: '/spec/name',
      hint: 'Choose another.',
      verbatim: 'EEXIST',
      serverPartMissing: false
    });
  });

  it('tells a missing server part from a missing job', async () => {
    expect((await refusal(client.engines())).serverPartMissing).toBe(true);
    server.answer = () => json({ message: 'No such job.' }, 404);
    expect((await refusal(client.job('x'))).serverPartMissing).toBe(false);
  });

  it('speaks for a proxy whose page is not for people', async () => {
    server.answer = () =>
      new Response('<html>', { status: 502, statusText: 'Bad Gateway' });
    const error = await refusal(client.engines());
    expect(error.status).toBe(502);
    expect(error.message).toBe('The Jupyter server answered 502 Bad Gateway.');
  });

  it('rejects with status 0 when nobody answers', async () => {
    server.answer = () => {
      throw new TypeError('Failed to fetch');
    };
    const error = await refusal(client.engines());
    expect(error.status).toBe(0);
    expect(error.verbatim).toContain('Failed to fetch');
  });

  it('rejects a success that is not an answer of ours', async () => {
    server.answer = () => new Response('<html>Log in</html>', { status: 200 });
    const error = await refusal(client.engines());
    expect(error.status).toBe(200);
    expect(error.message).toBe(
      'The answer did not come from the server part of Distributed Jobs.'
    );
    expect(error.hint).toMatch(/log in again/);
    expect(error.serverPartMissing).toBe(false);
  });

  it('gives addresses for downloads', () => {
    expect(client.logDownloadUrl('local::a:u')).toMatch(
      /\/jobs\/local%3A%3Aa%3Au\/log-archive$/
    );
    expect(
      client.logDownloadUrl('local::a:u', 'worker-0.1.rank-0.out')
    ).toMatch(/\/logs\/worker-0\.1\.rank-0\.out\?download=true$/);
  });
});
