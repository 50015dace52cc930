import { JupyterFrontEnd } from '@jupyterlab/application';
import { Dialog, ToolbarWidgetRegistry } from '@jupyterlab/apputils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { Contents, Drive, ContentsManager } from '@jupyterlab/services';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { StateDB } from '@jupyterlab/statedb';
import { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import { ApiClient } from '../../../src/api/client';
import { PrefillRequest } from '../../../src/api/types';
import { Jobs } from '../../../src/model/jobs';
import { ISavedTab, LaunchStore } from '../../../src/model/launchStore';
import { launchPlugin } from '../../../src/plugins/launch';
import { CommandIDs } from '../../../src/tokens';
import { LaunchWidget } from '../../../src/widgets/launch';
import { someEditors } from '../editors';
import { json } from '../fakes';
import { LaunchServer, somePrefill, someSpec } from '../launchFakes';

/** An open document, as far as we look at one. */
class Document extends Widget {
  constructor(path: string, dirty = false) {
    super();
    this.context = {
      path,
      localPath: path.replace('RTC:', ''),
      model: { dirty },
      contentsModel: { last_modified: '2026-11-20T10:31:00Z' },
      pathChanged: new Signal<object, string>({}),
      save: jest.fn(async () => {
        this.context.model.dirty = false;
      })
    };
  }

  readonly context;
}

describe('launching', () => {
  let server: LaunchServer;
  let jobs: Jobs;
  let commands: CommandRegistry;
  let contents: ContentsManager;
  let toolbars: ToolbarWidgetRegistry;
  let widgets: Widget[];
  let front: Widget | null;
  let db: StateDB;
  let selected: Partial<Contents.IModel>[];
  let settings: Record<string, boolean>;
  const opened = jest.fn();

  beforeEach(async () => {
    opened.mockClear();
    server = new LaunchServer();
    jobs = new Jobs(new ApiClient(server.settings()));
    commands = new CommandRegistry();
    commands.addCommand(CommandIDs.openJob, { execute: opened });
    contents = new ContentsManager({ serverSettings: server.settings() });
    contents.addDrive(new Drive({ name: 'RTC' }));
    toolbars = new ToolbarWidgetRegistry({
      defaultFactory: () => new Widget()
    });
    widgets = [];
    front = null;
    db = new StateDB();
    selected = [];
    settings = {};
    const app = {
      commands,
      serviceManager: { contents },
      shell: {
        get currentWidget() {
          return front;
        },
        widgets: () => widgets[Symbol.iterator](),
        add: (widget: Widget) => widgets.push(widget),
        activateById: (id: string) => {
          front = widgets.find(widget => widget.id === id) ?? null;
        }
      }
    } as unknown as JupyterFrontEnd;
    const manager = {
      contextForWidget: (widget: Widget) =>
        widget instanceof Document ? widget.context : undefined
    } as unknown as IDocumentManager;
    const browsers = {
      tracker: { currentWidget: { selectedItems: () => selected.values() } }
    } as unknown as IFileBrowserFactory;
    const registry = {
      load: async () => ({
        changed: new Signal<object, void>({}),
        get: (key: string) => ({ composite: settings[key] }),
        set: async (key: string, value: boolean) => {
          settings[key] = value;
        }
      })
    } as unknown as ISettingRegistry;
    await launchPlugin.activate(
      app,
      jobs,
      manager,
      someEditors(),
      browsers,
      null,
      db,
      registry,
      null,
      toolbars,
      null,
      null,
      null
    );
  });

  afterEach(() => {
    widgets.forEach(widget => widget.dispose());
    jobs.dispose();
    contents.dispose();
    Dialog.flush();
  });

  const show = (document: Document): Document => {
    widgets.push(document);
    front = document;
    return document;
  };
  const tabs = (): LaunchWidget[] =>
    widgets.filter(
      (widget): widget is LaunchWidget =>
        widget instanceof LaunchWidget && !widget.isDisposed
    );
  const paths = (): (string | null)[] =>
    tabs().map(({ model }) => model.state.path);
  const filled = (tab: LaunchWidget): Promise<void> =>
    new Promise(resolve => {
      const check = (): void => {
        if (tab.model.state.form) {
          tab.model.changed.disconnect(check);
          resolve();
        }
      };
      tab.model.changed.connect(check);
      check();
    });
  /** The open dialog, as soon as it is there. */
  const dialog = async (): Promise<HTMLElement> => {
    for (;;) {
      const node = document.querySelector<HTMLElement>('.jp-Dialog');
      if (node?.querySelector('.jp-Dialog-header')?.textContent) {
        return node;
      }
      await new Promise(resolve => setTimeout(resolve));
    }
  };
  const press = (node: HTMLElement, label: string): void =>
    [...node.querySelectorAll('button')]
      .find(button => button.textContent === label)
      ?.click();

  it('acts on a path, without its drive', async () => {
    await commands.execute(CommandIDs.launch, { path: 'RTC:a/train.py' });
    await filled(tabs()[0]);
    expect(server.bodies<PrefillRequest>('/launch/prefill')[0].path).toBe(
      'a/train.py'
    );
    expect(tabs()[0].title.label).toBe('Run train.py');
  });

  it('acts on the file in front, not on what the file browser has selected', async () => {
    selected = [{ path: 'other.py', type: 'file' }];
    show(new Document('RTC:a/train.ipynb'));
    await commands.execute(CommandIDs.launch);
    expect(paths()).toEqual(['a/train.ipynb']);
  });

  it('acts on all scripts and notebooks that are selected', async () => {
    show(new Document('front.py'));
    selected = [
      { path: 'a.py', type: 'file' },
      { path: 'dir.py', type: 'directory' },
      { path: 'b.md', type: 'file' },
      { path: 'RTC:c.ipynb', type: 'notebook' }
    ];
    await commands.execute(CommandIDs.launch, { selected: true });
    expect(paths()).toEqual(['a.py', 'c.ipynb']);
  });

  it('goes to the tab that is open for the same file', async () => {
    await commands.execute(CommandIDs.launch, { path: 'a.py' });
    await commands.execute(CommandIDs.launch, { path: 'b.py' });
    await commands.execute(CommandIDs.launch, { path: 'a.py' });
    expect(paths()).toEqual(['a.py', 'b.py']);
    expect(front).toBe(tabs()[0]);
  });

  it('is offered where there is something to run', () => {
    const offered = (args = {}): [boolean, boolean] => [
      commands.isVisible(CommandIDs.launch, args),
      commands.isEnabled(CommandIDs.launch, args)
    ];
    expect(offered()).toEqual([true, false]); // greyed out in the Run menu
    show(new Document('notes.md'));
    expect(offered()).toEqual([false, false]);
    show(new Document('train.py'));
    expect(offered()).toEqual([true, true]);
    expect(offered({ path: 'x.py' })).toEqual([true, true]);
  });

  it('has a button in the toolbar of each file that can be run', async () => {
    const script = show(new Document('train.py'));
    const notes = show(new Document('notes.md'));
    const button = (document: Document): Widget =>
      toolbars.createWidget('Editor', document, {
        name: 'run-as-distributed-job'
      });
    expect(button(notes).isHidden).toBe(true);
    const run = button(script);
    expect(run.isHidden).toBe(false);
    script.context.pathChanged.emit('train.txt');
    expect(run.isHidden).toBe(true);
  });

  describe('a file with unsaved changes', () => {
    let file: Document;
    let launched: Promise<unknown>;

    beforeEach(() => {
      file = show(new Document('RTC:train.py', true));
      launched = commands.execute(CommandIDs.launch);
    });

    it('is saved if the user wants it, which has the focus', async () => {
      const node = await dialog();
      expect(node.textContent).toContain('Save train.py first?');
      expect(document.activeElement?.textContent).toBe('Save and go on');
      press(node, 'Save and go on');
      await launched;
      expect(file.context.save).toHaveBeenCalled();
      expect(paths()).toEqual(['train.py']);
      expect(settings).toEqual({});
    });

    it('is not saved if the user wants to run what is on disk', async () => {
      press(await dialog(), 'Run the saved file');
      await launched;
      expect(file.context.save).not.toHaveBeenCalled();
      expect(paths()).toEqual(['train.py']);
    });

    it('is not run if the user cancels', async () => {
      press(await dialog(), 'Cancel');
      await launched;
      expect(paths()).toEqual([]);
    });

    it('is saved without a question once the user has said “always”', async () => {
      const node = await dialog();
      node.querySelector<HTMLInputElement>('input[type="checkbox"]')?.click();
      press(node, 'Save and go on');
      await launched;
      file.context.model.dirty = true;
      await commands.execute(CommandIDs.launch, { path: 'train.py' });
      expect(file.context.save).toHaveBeenCalledTimes(2);
    });
  });

  it('shows the job that was submitted, in place of the form', async () => {
    await commands.execute(CommandIDs.launch, { path: 'train.py' });
    const [tab] = tabs();
    document.body.appendChild(tab.node);
    Object.defineProperty(tab, 'isVisible', { value: true });
    tab.update();
    await filled(tab);
    const shown = new Promise(resolve => opened.mockImplementation(resolve));
    let button: HTMLElement | undefined;
    while (!button) {
      await new Promise(requestAnimationFrame);
      button = [...tab.node.querySelectorAll('button')].find(
        ({ textContent }) => textContent === 'Submit'
      );
    }
    const closed = new Promise(resolve => tab.disposed.connect(resolve));
    button.click();
    expect(await shown).toEqual({ id: 'local::train-1:u1' });
    await closed;
    expect(tabs()).toEqual([]);
  });

  it('fills a form from a job', async () => {
    server.answer = request =>
      request.method === 'GET'
        ? json({
            name: 'old-1',
            engine: 'local',
            namespace: '',
            display_name: null,
            entrypoint_path: 'mnist/train.py',
            spec: someSpec({ args: ['--epochs', '3'] })
          })
        : new LaunchServer().answer(request);
    await commands.execute(CommandIDs.clone, { id: 'local::old-1:u' });
    const [tab] = tabs();
    await filled(tab);
    expect(tab.model.form.values).toEqual({ '--epochs': '3' });
    expect(tab.model.state.clone?.name).toBe('old-1');
  });

  describe('a job that runs no file', () => {
    const spec = someSpec({ entrypoint: { kind: 'module', value: 'pkg.cli' } });

    beforeEach(async () => {
      server.prefill = somePrefill({ path: null });
      const { answer } = server;
      server.answer = request =>
        request.method === 'GET'
          ? json({
              name: 'old-1',
              engine: 'local',
              namespace: '',
              display_name: null,
              entrypoint_path: null,
              spec
            })
          : answer(request);
      await commands.execute(CommandIDs.clone, { id: 'local::old-1:u' });
      await filled(tabs()[0]);
    });

    it('fills a form as well', () => {
      const [request] = server.bodies<PrefillRequest>('/launch/prefill');
      expect(request).toMatchObject({ path: null, spec });
      expect(tabs()[0].title.label).toBe('Run old-1');
      expect(tabs()[0].model.form.spec.entrypoint).toEqual(spec.entrypoint);
    });

    it('is found again after a reload of the page', async () => {
      const [{ model, tab }] = tabs();
      await model.save();
      const store = new LaunchStore(db);
      await store.saveTab('reloaded', (await store.tab(tab)) as ISavedTab);
      await commands.execute(CommandIDs.launch, { tab: 'reloaded' });
      const again = tabs()[1];
      await filled(again);
      expect(again.title.label).toBe('Run old-1');
      expect(again.model.spec).toEqual(model.spec);
    });
  });
});
