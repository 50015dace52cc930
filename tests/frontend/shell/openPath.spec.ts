import { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { ServerConnection } from '@jupyterlab/services';
import { loadTranslation } from '../../../src/common/translation';
import { openFile, openFolder } from '../../../src/shell/openPath';

describe('a path that a page links to', () => {
  const trans = loadTranslation(null);
  const execute = jest.fn().mockResolvedValue(undefined);
  const get = jest.fn();
  const app = {
    commands: { execute },
    serviceManager: { contents: { get } }
  } as unknown as JupyterFrontEnd;

  const failed = (status: number): Error =>
    new ServerConnection.ResponseError(
      new Response(null, { status }),
      `Status ${status}.`
    );
  const notices = (): string[] =>
    Notification.manager.notifications.map(
      ({ message, type }) => `${type}: ${message}`
    );

  beforeEach(() => {
    execute.mockClear();
    get.mockReset();
    Notification.manager.dismiss();
  });

  it('opens if it is there', async () => {
    get.mockResolvedValue({});
    await openFolder(app, 'runs/a', trans);
    expect(execute).toHaveBeenLastCalledWith('filebrowser:go-to-path', {
      path: 'runs/a'
    });
    await openFile(app, { path: 'a.py', line: 3 }, trans);
    expect(execute).toHaveBeenLastCalledWith('docmanager:open', {
      path: 'a.py',
      factory: 'Editor'
    });
    expect(notices()).toEqual([]);
  });

  it('is said to be missing if it is not there', async () => {
    get.mockRejectedValue(failed(404));
    await openFolder(app, 'runs/a', trans);
    await openFile(app, { path: 'a.py', line: 3 }, trans);
    expect(execute).not.toHaveBeenCalled();
    expect(notices().sort()).toEqual([
      'warning: The directory does not exist (yet): runs/a',
      'warning: The file was not found. It may have been moved or deleted: a.py'
    ]);
  });

  it('is not said to be missing if the server fails', async () => {
    get.mockRejectedValue(failed(500));
    await openFile(app, { path: 'a.py', line: 3 }, trans);
    expect(execute).not.toHaveBeenCalled();
    expect(notices()).toEqual([expect.stringMatching(/^error: .*Status 500/)]);
  });
});
