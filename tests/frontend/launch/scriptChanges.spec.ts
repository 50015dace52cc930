import { ServerConnection } from '@jupyterlab/services';
import { LaunchModel } from '../../../src/launch/model/launch';
import { ScriptChanges } from '../../../src/launch/scriptChanges';
import { json } from '../fakes';
import { launchModel, LaunchServer } from '../launchFakes';

describe('the script of a form', () => {
  let server: LaunchServer;
  let model: LaunchModel;
  let script: ScriptChanges;
  const get = jest.fn();

  beforeEach(async () => {
    jest.useFakeTimers();
    server = new LaunchServer();
    model = launchModel(server);
    await model.open();
    get.mockReset().mockResolvedValue({ last_modified: '10:00' });
    script = new ScriptChanges(model, { get });
    await script.look();
  });

  afterEach(() => {
    model.dispose();
    jest.useRealTimers();
  });

  const reads = (): number => server.bodies('/launch/prefill').length;
  const previews = (): number => server.bodies('/launch/preview').length;
  const fails = (status: number): void => {
    const response = new Response(null, { status });
    get.mockRejectedValue(new ServerConnection.ResponseError(response));
  };

  it('is read again when it has changed', async () => {
    expect(reads()).toBe(1);
    get.mockResolvedValue({ last_modified: '10:01' });
    await script.look();
    expect(reads()).toBe(2);
    await script.look();
    expect(reads()).toBe(2);
  });

  it('is looked for by the server when it is gone, and read when it is back', async () => {
    const before = previews();
    fails(404);
    await script.look();
    expect([reads(), previews()]).toEqual([1, before + 1]);
    get.mockResolvedValue({ last_modified: '10:00' });
    await script.look();
    expect(reads()).toBe(2);
  });

  it('stays as it is while the server does not tell', async () => {
    fails(503);
    await script.look();
    get.mockResolvedValue({ last_modified: '10:00' });
    await script.look();
    expect(reads()).toBe(1);
  });

  it('fills the form once it is there', async () => {
    const { answer } = server;
    server.answer = () => json({ message: 'It does not exist.' }, 422);
    fails(404);
    const other = launchModel(server, { tab: 'other' });
    await other.open();
    script = new ScriptChanges(other, { get });
    await script.look();
    server.answer = answer;
    get.mockResolvedValue({ last_modified: '10:01' });
    await script.look();
    expect(other.state.form).not.toBeNull();
    other.dispose();
  });

  it('is not mixed up with another file that is chosen', async () => {
    get.mockResolvedValue({ last_modified: '09:00' });
    await model.openFor('other.py');
    const before = reads();
    await script.look();
    expect(reads()).toBe(before);
  });
});
