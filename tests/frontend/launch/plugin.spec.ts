import { JupyterFrontEnd } from '@jupyterlab/application';
import {
  Dialog,
  Notification,
  ToolbarWidgetRegistry
} from '@jupyterlab/apputils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { FileBrowser, IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { Contents, Drive, ContentsManager } from '@jupyterlab/services';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { StateDB } from '@jupyterlab/statedb';
import { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import { LaunchWidget } from '../../../src/launch/widget';
import { ApiClient } from '../../../src/api/client';
import { EngineInfo, JobSpec, PrefillRequest } from '../../../src/api/types';
import { Jobs } from '../../../src/jobs/model/jobs';
import { LaunchModel } from '../../../src/launch/model/launch';
import { ISavedTab, LaunchStore } from '../../../src/launch/model/store';
import { launchPlugin } from '../../../src/launch/plugin';
import { LaunchTab } from '../../../src/launch/tabs';
import { CommandIDs } from '../../../src/tokens';
import { someEngines } from '../clusterFakes';
import { someEditors } from '../editors';
import { json } from '../fakes';
import {
  launchModel,
  LaunchServer,
  somePrefill,
  someSpec
} from '../launchFakes';

/** An open document, as far as we look at one. */
class Document extends Widget {
  constructor(path: string, dirty = false, text = '') {
    super();
    this.context = {
      path,
      localPath: path.replace('RTC:', ''),
      model: { dirty, toString: () => text },
      contentsModel: { last_modified: '2026-11-20T10:31:00Z' },
      pathChanged: new Signal<object, string>({}),
      save: jest.fn(async () => {
        this.context.model.dirty = false;
      })
    };
  }

  readonly context;
}

/** A server that has a job to clone, and answers everything else as `other` does. */
function answerWithJob(
  job: { entrypoint_path: string | null; spec: JobSpec },
  other = new LaunchServer().answer
): LaunchServer['answer'] {
  return request =>
    request.method === 'GET'
      ? json({
          ...{ name: 'old-1', engine: 'local', namespace: '' },
          display_name: null,
          ...job
        })
      : other(request);
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
  let refreshed: Signal<object, void>;
  const opened = jest.fn();

  beforeEach(async () => {
    opened.mockClear();
    server = new LaunchServer();
    jobs = new Jobs(new ApiClient(server.settings()));
    commands = new CommandRegistry();
    commands.addCommand(CommandIDs.openJob, { execute: opened });
    contents = new ContentsManager({ serverSettings: server.settings() });
    contents.addDrive(new Drive({ name: 'RTC' }));
    contents.addDrive(new Drive({ name: 's3' }));
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
        add: (widget: Widget) => {
          widgets = [...widgets.filter(one => one !== widget), widget];
          Widget.attach(widget, document.body);
        },
        activateById: (id: string) => {
          front = widgets.find(widget => widget.id === id) ?? null;
        }
      }
    } as unknown as JupyterFrontEnd;
    const manager = {
      contextForWidget: (widget: Widget) =>
        widget instanceof Document ? widget.context : undefined
    } as unknown as IDocumentManager;
    refreshed = new Signal<object, void>({});
    const browser = {
      model: { items: () => selected.values(), refreshed }
    } as unknown as FileBrowser;
    const browsers = {
      tracker: {
        currentWidget: { selectedItems: () => selected.values() },
        forEach: (call: (browser: FileBrowser) => void) => call(browser),
        widgetAdded: new Signal<object, FileBrowser>({})
      }
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
  const tabs = (): LaunchTab[] =>
    widgets.filter(
      (widget): widget is LaunchTab =>
        widget instanceof LaunchTab && !widget.isDisposed
    );
  const paths = (): (string | null)[] => tabs().map(({ path }) => path);
  /** The model of a tab once its form is filled. */
  const filled = async (tab: LaunchTab): Promise<LaunchModel> => {
    const { model } = (await tab.loaded) as LaunchWidget;
    await new Promise<void>(resolve => {
      const check = (): void => {
        if (model.state.form) {
          model.changed.disconnect(check);
          resolve();
        }
      };
      model.changed.connect(check);
      check();
    });
    return model;
  };
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

  it('refuses a file of another drive by name, and goes on with the others', async () => {
    show(new Document('s3:b.py', true));
    selected = [
      { path: 's3:a/train.py', type: 'file' },
      { path: 'RTC:b.py', type: 'file' },
      { path: 'odd:c.py', type: 'file' } // a colon, and no drive
    ];
    const before = Notification.manager.count;
    await commands.execute(CommandIDs.launch, { selected: true });
    await commands.execute(CommandIDs.launch, { path: 's3:c.py' });
    expect(paths()).toEqual(['b.py', 'odd:c.py']); // that of the drive is not asked to be saved
    const said = Notification.manager.notifications
      .slice(0, Notification.manager.count - before)
      .map(({ message }) => message);
    expect(said).toHaveLength(2);
    expect(said.join()).toContain('s3:a/train.py is on the drive “s3”.');
    expect(said.join()).toContain('s3:c.py is on the drive “s3”.');
  });

  it('shows a tab again that was restored without a place in the lab', async () => {
    await commands.execute(CommandIDs.launch, { path: 'train.py' });
    const [tab] = tabs();
    Widget.detach(tab);
    await commands.execute(CommandIDs.launch, { path: 'train.py' });
    expect(tabs()).toEqual([tab]);
    expect(tab.isAttached).toBe(true);
  });

  it('submits the form in front', async () => {
    expect(commands.isEnabled(CommandIDs.submit)).toBe(false);
    await commands.execute(CommandIDs.launch, { path: 'train.py' });
    const [tab] = tabs();
    await filled(tab);
    tab.node.focus();
    while (!commands.isEnabled(CommandIDs.submit)) {
      await new Promise(requestAnimationFrame); // until the form is rendered
    }
    await commands.execute(CommandIDs.submit);
    while (!tab.isDisposed) {
      await new Promise(requestAnimationFrame);
    }
    expect(opened).toHaveBeenCalledTimes(1);
    expect(commands.isEnabled(CommandIDs.submit)).toBe(false);
  });

  it('goes to the tab that is open for the same file', async () => {
    await commands.execute(CommandIDs.launch, { path: 'a.py' });
    await commands.execute(CommandIDs.launch, { path: 'b.py' });
    await commands.execute(CommandIDs.launch, { path: 'a.py' });
    expect(paths()).toEqual(['a.py', 'b.py']);
    expect(front).toBe(tabs()[0]);
  });

  it('opens a new form for a file whose tab was closed', async () => {
    await commands.execute(CommandIDs.launch, { path: 'a.py' });
    const [closed] = tabs();
    closed.close();
    await commands.execute(CommandIDs.launch, { path: 'a.py' });
    expect(paths()).toEqual(['a.py']);
    expect(front).not.toBe(closed);
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

  describe('a YAML file', () => {
    const item = (path: string, changes: Partial<Contents.IModel> = {}) => ({
      ...{ path, type: 'file', last_modified: '1', size: 100, ...changes }
    });
    const texts: Record<string, string> = {
      'job.yaml': 'apiVersion: x\r\nkind: PyTorchJob # ours\r\n',
      'second.yml': 'kind: Service\n---\nkind: "PyTorchTrainingJob"\n',
      'flow.yaml': '{"apiVersion": "v1", "kind": "PyTorchJob"}',
      'config.yaml': 'kind: ConfigMap\ndata:\n  a: |\n    kind: PyTorchJob\n',
      'late.yaml': `${'#'.repeat(64 * 1024)}\nkind: PyTorchJob\n`,
      'other.yaml': 'kind: PyTorchJobs\n',
      'large.yaml': 'kind: PyTorchJob\n'
    };
    const ours = ['job.yaml', 'second.yml', 'flow.yaml'];
    const reads = (): string[] =>
      server.requests
        .filter(({ url }) => url.includes('/api/contents/'))
        .map(({ url }) => new URL(url).pathname.split('/').pop() ?? '');
    const offered = (): string[] =>
      Object.keys(texts).filter(path => {
        selected = [item(path, path === 'large.yaml' ? { size: 2 ** 21 } : {})];
        return commands.isVisible(CommandIDs.launch, { selected: true });
      });
    /** The file browser lists the files, and they have been looked at. */
    const list = async (files: Partial<Contents.IModel>[]): Promise<void> => {
      selected = files;
      refreshed.emit();
      for (let turn = 0; turn < 100; turn++) {
        await new Promise(resolve => setTimeout(resolve));
      }
    };
    let engines: EngineInfo[];

    beforeEach(() => {
      engines = someEngines();
      Object.defineProperty(jobs, 'engines', { get: () => engines });
      server.answer = ({ url }) => {
        const path = new URL(url).pathname.split('/').pop() ?? '';
        return json({
          ...{ name: path, path, type: 'file', format: 'text' },
          ...{ mimetype: 'text/plain', content: texts[path], writable: true },
          ...{ created: '', last_modified: '1', size: 1 }
        });
      };
    });

    it('is offered where it is one of our kinds, and is read once', async () => {
      await list(
        Object.keys(texts).map(path =>
          item(path, path === 'large.yaml' ? { size: 2 ** 21 } : {})
        )
      );
      expect(offered()).toEqual(ours);
      await list(selected);
      expect(reads().sort()).toEqual(
        Object.keys(texts)
          .filter(path => path !== 'large.yaml')
          .sort()
      );
    });

    it('is read again when it was changed', async () => {
      await list([item('config.yaml')]);
      texts['config.yaml'] = 'kind: PyTorchJob\n';
      await list([item('config.yaml', { last_modified: '2' })]);
      expect(commands.isVisible(CommandIDs.launch, { selected: true })).toBe(
        true
      );
    });

    it('is offered where only the engine of another kind is available', async () => {
      engines[2].available = false; // the form converts a PyTorchJob
      await list(Object.keys(texts).map(path => item(path)));
      expect(offered()).toEqual(expect.arrayContaining(ours));
      front = show(new Document('job.yaml', false, texts['job.yaml']));
      expect(commands.isVisible(CommandIDs.launch)).toBe(true);
    });

    it('is read again when an engine of another kind is listed', async () => {
      texts['v1.yaml'] = 'kind: Job.v1+\n';
      texts['v2.yaml'] = 'kind: Jobxv11\n';
      const files = [item('v1.yaml'), item('v2.yaml')];
      await list(files);
      expect(offered()).not.toContain('v1.yaml');
      const facts = { ...engines[2].facts, manifest_object: 'Job.v1+' };
      engines = [...engines, { ...engines[2], name: 'other', facts }];
      await list(files);
      expect(offered()).toContain('v1.yaml');
      expect(offered()).not.toContain('v2.yaml');
    });

    it('is neither offered nor read without a cluster', async () => {
      engines[1].available = engines[2].available = false;
      await list(Object.keys(texts).map(path => item(path)));
      expect(offered()).toEqual([]);
      expect(reads()).toEqual([]);
    });
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
      expect(document.activeElement?.textContent).toBe('Save and continue');
      press(node, 'Save and continue');
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
      press(node, 'Save and continue');
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
    const form = (await tab.loaded) as LaunchWidget;
    Object.defineProperty(form, 'isVisible', { value: true });
    form.update();
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
    server.answer = answerWithJob({
      entrypoint_path: 'mnist/train.py',
      spec: someSpec({ args: ['--epochs', '3'] })
    });
    await commands.execute(CommandIDs.clone, { id: 'local::old-1:u' });
    const model = await filled(tabs()[0]);
    expect(model.form.values).toEqual({ '--epochs': '3' });
    expect(model.state.clone?.name).toBe('old-1');
  });

  it('has a form for each job, also where their names and files are equal', async () => {
    const { answer } = new LaunchServer();
    server.answer = request => {
      const id = decodeURIComponent(request.url.split('/').pop() ?? '');
      return request.method === 'GET' && id.includes(':')
        ? json({
            name: 'job-1',
            engine: 'local',
            namespace: '',
            display_name: '训练',
            entrypoint_path: '训练.py',
            spec: someSpec({ args: ['--epochs', id.slice(-1)] })
          })
        : answer(request);
    };
    const ids = ['local::job-1:1', 'local::job-1:2', 't9k:demo:job-1:3'];
    for (const id of [...ids, ids[1]]) {
      await commands.execute(CommandIDs.clone, { id });
    }
    const models = await Promise.all(tabs().map(filled));
    expect(models.map(({ form }) => form.values['--epochs'])).toEqual([
      '1',
      '2',
      '3'
    ]);
    expect(front).toBe(tabs()[1]);
    await commands.execute(CommandIDs.launch, { path: '训练.py' });
    expect(tabs()).toHaveLength(4);
  });

  it('clones with a change, in a form of its own', async () => {
    server.answer = answerWithJob({
      entrypoint_path: 'mnist/train.py',
      spec: someSpec()
    });
    const id = 'local::old-1:u';
    const changes = { '/spec/torchrun/max_restarts': 3 };
    await commands.execute(CommandIDs.clone, { id });
    for (let times = 0; times < 2; times++) {
      await commands.execute(CommandIDs.clone, {
        id,
        fix: { label: 'Restart it', changes }
      });
    }
    const specs = tabs().map(({ clone }) => clone?.spec.torchrun);
    expect(specs.map(torchrun => torchrun?.max_restarts)).toEqual([0, 3]);
  });

  it('takes up the tab of a clone that an older version has kept', async () => {
    const model = launchModel(server, { db, tab: 'old' });
    await model.open();
    await model.save();
    const store = new LaunchStore(db);
    const saved = (await store.tab('old')) as ISavedTab;
    const clone = { name: 'job-1', spec: someSpec() };
    await store.saveTab('old', { ...saved, clone });
    model.dispose();
    await commands.execute(CommandIDs.launch, { tab: 'old' });
    expect((await filled(tabs()[0])).state.clone).toEqual(clone);
  });

  it('has a new form for a manifest that was changed since', async () => {
    let content = 'kind: PyTorchJob';
    const { answer } = server;
    server.answer = request =>
      request.url.includes('/api/contents/')
        ? json({
            ...{ name: 'job.yaml', path: 'job.yaml', type: 'file', content },
            ...{ format: 'text', mimetype: 'text/plain', writable: true },
            ...{ created: '', last_modified: '', size: 1 }
          })
        : answer(request);
    const launch = () =>
      commands.execute(CommandIDs.launch, { path: 'job.yaml' });
    await launch();
    await launch();
    expect(tabs()).toHaveLength(1);
    content = 'kind: PyTorchTrainingJob';
    await launch();
    expect(tabs()).toHaveLength(2);
  });

  describe('a job that runs no file', () => {
    const spec = someSpec({ entrypoint: { kind: 'module', value: 'pkg.cli' } });

    beforeEach(async () => {
      server.prefill = somePrefill({ path: null });
      server.answer = answerWithJob(
        { entrypoint_path: null, spec },
        server.answer
      );
      await commands.execute(CommandIDs.clone, { id: 'local::old-1:u' });
      await filled(tabs()[0]);
    });

    it('fills a form as well', async () => {
      const [request] = server.bodies<PrefillRequest>('/launch/prefill');
      expect(request).toMatchObject({ path: null, spec });
      expect(tabs()[0].title.label).toBe('Run old-1');
      const { form } = await filled(tabs()[0]);
      expect(form.spec.entrypoint).toEqual(spec.entrypoint);
    });

    it('is found again after a reload of the page', async () => {
      const model = await filled(tabs()[0]);
      await model.save();
      const store = new LaunchStore(db);
      await store.saveTab(
        'reloaded',
        (await store.tab(tabs()[0].tab)) as ISavedTab
      );
      await commands.execute(CommandIDs.launch, { tab: 'reloaded' });
      const again = tabs()[1];
      const { spec: kept } = await filled(again);
      expect(again.title.label).toBe('Run old-1');
      expect(kept).toEqual(model.spec);
    });
  });
});
