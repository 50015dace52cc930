import { StateDB } from '@jupyterlab/statedb';
import { Signal } from '@lumino/signaling';
import {
  CreateJob,
  EngineInfo,
  PrefillRequest,
  PreviewRequest
} from '../../../../src/api/types';
import { LaunchModel } from '../../../../src/launch/model/launch';
import { usualLocation } from '../../../../src/cluster/model/locations';
import { NEW_RULE } from '../../../../src/launch/content/sweep';
import { ILaunchOptions } from '../../../../src/launch/model/options';
import { LaunchStore } from '../../../../src/launch/model/store';
import { IJobsModel } from '../../../../src/tokens';
import {
  answerSweeps,
  ClusterServer,
  someCheck,
  someEngines,
  someVolume
} from '../../clusterFakes';
import { json } from '../../fakes';
import { launchModel, OPTIONS, someSpec } from '../../launchFakes';

const rule = { ...NEW_RULE, metric: 'loss' };

type Jobs = NonNullable<ILaunchOptions['jobs']>;

/** The page's view of the engines. */
function someJobs(engines: EngineInfo[]): Jobs & { engines: EngineInfo[] } {
  const jobs = { engines, changed: null as unknown };
  jobs.changed = new Signal<typeof jobs, void>(jobs);
  return jobs as unknown as Jobs & { engines: EngineInfo[] };
}

describe('where a job runs', () => {
  it('is this machine on a laptop, and the cluster in a pod', () => {
    expect(usualLocation(someEngines('test'), null).engine).toBe('local');
    expect(usualLocation(someEngines(null), null)).toEqual({
      engine: 't9k',
      namespace: 'demo'
    });
  });

  it('is where the last job ran, if that is still there', () => {
    const last = { engine: 'kubeflow', namespace: 'team-b' } as const;
    const engines = someEngines();
    expect(usualLocation(engines, last)).toEqual(last);
    engines[2].available = false;
    expect(usualLocation(engines, last).engine).toBe('local');
    expect(usualLocation([], last)).toEqual({ engine: '', namespace: '' });
  });
});

describe('LaunchModel in a cluster', () => {
  let server: ClusterServer;
  let db: StateDB;
  let model: LaunchModel;

  beforeEach(async () => {
    jest.useFakeTimers();
    server = new ClusterServer();
    db = new StateDB();
    model = launchModel(server, { db, jobs: someJobs(someEngines()) });
    await model.open();
  });

  afterEach(() => {
    model.dispose();
    jest.useRealTimers();
  });

  const previews = (): PreviewRequest[] => server.bodies('/launch/preview');
  const prefills = (): PrefillRequest[] => server.bodies('/launch/prefill');
  const setQueue = (queue: string): void => {
    const { scheduling } = model.form.spec;
    model.edit({ scheduling: { ...scheduling, queue } }, '/scheduling/queue');
  };

  describe('moved to another engine', () => {
    beforeEach(async () => {
      model.setName('mine');
      await model.moveTo('t9k');
    });

    it('takes along what was entered, and gets what is needed there', () => {
      expect(model.state).toMatchObject({ engine: 't9k', namespace: 'demo' });
      expect(model.spec).toMatchObject({
        name: 'mine',
        runtime: { image: 'own:1' }
      });
      expect(prefills()[1]).toMatchObject({
        engine: 't9k',
        namespace: '',
        crossed_from: 'local'
      });
      expect(model.preview.shown?.manifest).toContain('name: mine');
    });

    it('says what can’t come along, and has it again on return', async () => {
      setQueue('fast');
      await model.moveTo('local');
      expect(model.spec.scheduling.queue).toBeNull();
      expect(model.state.notes.map(({ message }) => message)).toEqual([
        'Left out: No queues here.'
      ]);
      model.setName('other');
      await model.moveTo('t9k');
      expect(model.spec).toMatchObject({
        name: 'other',
        scheduling: { queue: 'fast' }
      });
      expect(model.state.notes).toEqual([]);
    });

    it('has it at a third engine as well', async () => {
      setQueue('fast');
      await model.moveTo('local');
      await model.moveTo('kubeflow');
      expect(model.spec.scheduling.queue).toBe('fast');
    });

    it('takes along its sweep, and texts that are not valid yet', async () => {
      const [, epochs, lr] = OPTIONS;
      const problem = 'No.';
      answerSweeps(server);
      model.setValues(lr, '0.1, 0.01');
      model.setSweep({ atATime: 4 }, '/sweep/at_a_time');
      model.setSweep({ leftOut: [2], rule }, '/sweep/left_out');
      model.setDraft('--epochs', { text: 'many', problem });
      model.setDraft('/sweep/seed', { text: '-', problem });
      model.setDraft('/scheduling/queue', { text: '?', problem });
      model.setName('Not a name');
      model.setMore('--x "open');
      const { sweep, form } = model;
      for (const engine of ['kubeflow', 'local', 't9k'] as const) {
        await model.moveTo(engine);
        expect(previews().slice(-1)[0]).toMatchObject({
          ...{ engine, spec: model.spec }
        });
        await jest.advanceTimersByTimeAsync(1000);
        expect(previews().slice(-1)[0]).toMatchObject({
          ...{ engine, spec: { name: `${engine}-1` } }
        });
        expect(model.sweep).toEqual(sweep);
        expect(model.isSweep).toBe(true);
        expect(model.form.more).toBe('--x "open');
        expect(model.form.drafts).toEqual({
          [epochs.flags[0]]: { text: 'many', problem },
          '/sweep/seed': { text: '-', problem },
          '/name': form.drafts['/name']
        });
      }
      await model.startFrom('defaults');
      expect(model.isSweep).toBe(false);
      expect(model.form.drafts).toEqual({});
    });

    it('stays where it is if the other place can’t be asked', async () => {
      const { answer } = server;
      server.answer = request =>
        request.url.endsWith('/launch/prefill')
          ? json({ message: 'No cluster.' }, 502)
          : answer(request);
      await model.moveTo('kubeflow');
      expect(model.state.engine).toBe('t9k');
      expect(model.state.refusal?.message).toBe('No cluster.');
      expect(model.isLocked).toBe(false);
      expect(model.spec.name).toBe('mine');
    });
  });

  it('asks in another namespace, and for its volumes', async () => {
    await model.moveTo('t9k');
    await model.loadVolumes();
    expect(model.state.volumes?.list).toHaveLength(2);
    model.setNamespace('team-b');
    expect(model.state.volumes).toBeNull();
    server.volumes = [someVolume('theirs')];
    await model.loadVolumes();
    expect(model.state.volumes?.list[0].claim).toBe('theirs');
    await jest.advanceTimersByTimeAsync(1000);
    expect(previews().at(-1)?.namespace).toBe('team-b');
    model.setNamespace('Team B');
    expect(model.checks).toMatchObject([{ field: '/namespace' }]);
    expect(model.state.namespace).toBe('team-b');
  });

  it('goes by the engines as they are now', () => {
    const jobs = someJobs(someEngines());
    const live = launchModel(server, { db, jobs, tab: 'live' });
    const changed = jest.fn();
    live.changed.connect(changed);
    jobs.engines = jobs.engines.slice(0, 1);
    (jobs.changed as Signal<IJobsModel, void>).emit();
    expect(changed).toHaveBeenCalledTimes(1);
    expect(live.engines).toHaveLength(1);
    live.dispose();
  });

  describe('with its manifest edited', () => {
    beforeEach(async () => {
      await model.moveTo('t9k');
      await model.editAsYaml();
    });

    const edit = async (text: string): Promise<void> => {
      model.setManifest(text);
      await jest.advanceTimersByTimeAsync(1000);
    };

    it('begins with the form as it is, not as it was', async () => {
      await model.backToForm();
      model.setName('newest');
      await model.editAsYaml();
      expect(model.state.manifest?.text).toContain('name: newest');
    });

    it('is locked, and is what the text says', async () => {
      expect(model.isLocked).toBe(true);
      expect(model.isManifestChanged).toBe(false);
      await edit('kind: X\n');
      expect(model.isManifestChanged).toBe(true);
      expect(previews().at(-1)?.manifest).toBe('kind: X\n');
      await model.moveTo('local');
      expect(model.state.engine).toBe('t9k');
    });

    it('says what is wrong with its line, and nothing of the form', async () => {
      model.setDraft('/name', { text: '!', problem: 'Bad.' });
      server.unreadable = {
        message: 'No YAML.',
        field: '/manifest',
        line: 3,
        column: 2
      };
      await edit('kind: [');
      expect(model.checks).toMatchObject([
        { message: 'No YAML.', line: 3, column: 2 }
      ]);
      server.unreadable = null;
      server.previewChanges = { checks: [someCheck({ line: 1 })] };
      await edit('kind: X');
      expect(model.checks).toMatchObject([{ level: 'warning', line: 1 }]);
    });

    it('is submitted as edited, and does not count as the form’s last time', async () => {
      await edit('kind: X\n');
      await model.submit();
      expect(server.bodies<CreateJob>('/jobs')[0].manifest).toBe('kind: X\n');
      const jobs = someJobs(someEngines());
      const next = launchModel(server, { db, jobs, tab: 'next' });
      await next.open();
      expect(next.state.lastTime).toBeNull();
      expect(next.state.engine).toBe('t9k'); // but the place does
      next.dispose();
    });

    it('becomes the form again', async () => {
      await edit('kind: X\n');
      const read = await model.readManifest();
      await model.backToForm(read);
      expect(model.isLocked).toBe(false);
      expect(model.spec.name).toBe('read');
      expect(model.state.namespace).toBe('team-b');
    });

    it('has its volumes in the form again, also unfinished ones', async () => {
      await model.backToForm();
      await model.loadVolumes();
      const mount = { sub_path: null, read_only: false, volume: null };
      const own = { ...mount, claim: 'own', mount_path: '/own' };
      const half = { ...mount, claim: 'other', mount_path: '' };
      model.edit({ mounts: [own, half] }, '/mounts');
      await model.editAsYaml();
      await edit('kind: X\n');
      const spec = someSpec({ name: 'read', mounts: [own] });
      server.read = { ...server.read, namespace: 'demo', spec };
      await model.backToForm(await model.readManifest());
      expect(model.form.spec.mounts).toEqual([own, half]);
      expect(model.spec.mounts).toEqual([own]);
      expect(model.state.volumes?.list).toHaveLength(2); // nothing asks again in the same namespace
    });

    it('can’t become the form while it can’t be read', async () => {
      server.unreadable = { message: 'No YAML.', field: '/manifest', line: 1 };
      expect(await model.readManifest()).toBeNull();
      expect(model.state.refusal?.line).toBe(1);
      await model.backToForm();
      expect(model.isLocked).toBe(false);
      expect(model.spec.name).toBe('train-1');
    });

    it('survives a reload of the page', async () => {
      await edit('kind: X\n');
      const again = launchModel(server, { db });
      await again.open();
      expect(again.state.manifest?.text).toBe('kind: X\n');
      expect(again.isManifestChanged).toBe(true);
      again.dispose();
    });
  });

  describe('begun with a manifest', () => {
    const manifest = { name: 'job.yaml', path: 'a/job.yaml', text: 'kind: X' };
    let other: LaunchModel;

    const open = async (): Promise<void> => {
      other = launchModel(server, { db, path: null, manifest, tab: 'other' });
      await other.open();
    };

    afterEach(() => other.dispose());

    it('is its form', async () => {
      server.read = { ...server.read, notes: [someCheck({ code: 'Mended' })] };
      await open();
      expect(other.name).toBe('job.yaml');
      expect(other.state).toMatchObject({
        engine: 't9k',
        namespace: 'team-b',
        manifest: null,
        notes: [{ code: 'Mended' }]
      });
      expect(other.spec.name).toBe('read');
    });

    it('is the text where a form would lose something', async () => {
      server.read = { ...server.read, lost: [someCheck()] };
      await open();
      expect(other.state.manifest?.text).toBe(server.read.manifest);
      expect(other.isManifestChanged).toBe(true); // going back is asked for
    });

    it('is a form where only comments are lost', async () => {
      server.read = { ...server.read, lost: [someCheck({ level: 'hint' })] };
      await open();
      expect(other.state.manifest).toBeNull();
    });

    it('says why it can’t be read', async () => {
      server.unreadable = { message: 'No job.', line: 2, column: 1 };
      await open();
      expect(other.state.failure).toMatchObject({
        message: 'No job.',
        line: 2
      });
      expect(other.state.form).toBeNull();
      expect(other.pasted).toBeNull();
    });

    it('can be corrected where it was pasted', async () => {
      server.unreadable = { message: 'No job.' };
      const pasted = { name: 'pasted', path: null, text: 'kind: Deploy' };
      other = launchModel(server, { path: null, manifest: pasted });
      await other.open();
      expect(other.pasted).toBe('kind: Deploy');
      server.unreadable = null;
      await other.correct('kind: PyTorchJob');
      expect(other.pasted).toBe('kind: PyTorchJob');
      expect(other.state.failure).toBeNull();
      expect(other.spec.name).toBe('read');
    });

    it('is there again after a reload, although it could not be read', async () => {
      server.unreadable = { message: 'No job.' };
      const pasted = { name: 'pasted', path: null, text: 'kind: Deploy' };
      const tab = { db, path: null, tab: 'other' };
      other = launchModel(server, { ...tab, manifest: pasted });
      await other.open();
      await other.correct('kind: Deployment');
      other.dispose();
      other = launchModel(server, tab);
      await other.open();
      expect(other.pasted).toBe('kind: Deployment');
      expect(other.name).toBe('pasted');
      expect(other.state.failure?.message).toBe('No job.');
      server.unreadable = null;
      await other.correct('kind: PyTorchJob');
      expect(other.spec.name).toBe('read');
    });

    it('gives way to the file that the user chooses instead', async () => {
      server.unreadable = { message: 'No job.' };
      await open();
      const { answer } = server;
      server.answer = () => json({ message: 'Not now.' }, 503);
      await other.openFor('mnist/train.py');
      other.dispose();
      server.answer = answer;
      other = launchModel(server, { db, tab: 'other' });
      await other.open();
      expect(other.name).toBe('train.py');
      expect(other.state.failure).toBeNull();
      expect(other.manifest).toBeNull();
    });

    it('is not kept if it is too long, nor is the text before it', async () => {
      server.unreadable = { message: 'No job.' };
      const pasted = { name: 'pasted', path: null, text: 'kind: Deploy' };
      const tab = { db, path: null, tab: 'other' };
      other = launchModel(server, { ...tab, manifest: pasted });
      await other.open();
      await other.correct(`#${' '.repeat(200_000)}`);
      other.dispose();
      other = launchModel(server, tab);
      await other.open();
      expect(other.manifest).toBeNull();
    });

    it('is not kept beside the content of its tab', async () => {
      const store = new LaunchStore(db);
      const tab = { db, path: null, tab: 'other' };
      other = launchModel(server, { ...tab, manifest });
      await other.open();
      expect(await store.source('other')).toMatchObject({ manifest });
      await other.save();
      expect(await store.source('other')).toBeNull();
    });
  });

  it('keeps the values of its job when another file is chosen instead of a missing one', async () => {
    const { answer } = server;
    server.answer = () => json({ message: 'It does not exist.' }, 422);
    const spec = someSpec({ name: 'again' });
    const other = launchModel(server, {
      ...{ db, tab: 'other', path: 'old.py' },
      clone: { name: 'a', spec }
    });
    await other.open();
    expect(other.state.form).toBeNull();
    server.answer = answer;
    await other.openFor('moved/old.py');
    expect(other.state).toMatchObject({ start: 'job', path: 'moved/old.py' });
    expect(prefills().at(-1)).toMatchObject({ path: 'moved/old.py', spec });
    other.dispose();
  });

  it('has its job again after a reload, although the server did not answer', async () => {
    const { answer } = server;
    server.answer = () => json({ message: 'Not now.' }, 503);
    const spec = someSpec({ name: 'again' });
    const tab = { db, path: null, tab: 'other' };
    const first = launchModel(server, { ...tab, clone: { name: 'a', spec } });
    await first.open();
    expect(first.state.form).toBeNull();
    first.dispose();
    server.answer = answer;
    const other = launchModel(server, tab);
    await other.open();
    expect(other.state).toMatchObject({ start: 'job', clone: { name: 'a' } });
    expect(prefills().at(-1)?.spec).toEqual(spec);
    other.dispose();
  });

  it('remembers where a file was submitted to, and with which image', async () => {
    await model.moveTo('kubeflow');
    await model.submit();
    const next = launchModel(server, {
      db,
      tab: 'next',
      jobs: someJobs(someEngines())
    });
    await next.open();
    expect(next.state).toMatchObject({
      engine: 'kubeflow',
      start: 'last',
      images: ['own:1']
    });
    next.dispose();
  });

  describe('an engine that is not installed any more', () => {
    const later = (tab: string): LaunchModel => {
      const engines = someEngines().filter(({ name }) => name !== 'kubeflow');
      server.prefill = { ...server.prefill, engines };
      const { answer } = server;
      server.answer = request =>
        (request.body as PrefillRequest | undefined)?.engine === 'kubeflow'
          ? json({ code: 'NoSuchEngine', message: 'There is none.' }, 422)
          : request.url.endsWith('/engines')
            ? json({ engines })
            : answer(request);
      // The page does not have the engines yet.
      return launchModel(server, { db, tab, jobs: someJobs([]) });
    };

    it('gives its tab to the usual place, with its edits', async () => {
      await model.moveTo('kubeflow');
      model.setName('mine');
      setQueue('fast');
      await model.save();
      const again = later('tab');
      await again.open();
      expect(again.state).toMatchObject({ engine: 'local', failure: null });
      expect(again.form).toEqual(model.form);
      expect(prefills().at(-1)?.spec?.name).toBe('mine');
      expect(previews().at(-1)?.engine).toBe('local');
      again.dispose();
    });

    it('gives its last submission to the usual place', async () => {
      await model.moveTo('kubeflow');
      setQueue('fast');
      await model.submit();
      const next = later('next');
      await next.open();
      expect(next.state).toMatchObject({
        engine: 'local',
        start: 'last',
        failure: null
      });
      expect(prefills().at(-1)?.spec?.scheduling?.queue).toBe('fast');
      next.dispose();
    });
  });

  it('takes a clone to its own engine', async () => {
    const clone = {
      name: 'old-1',
      spec: someSpec({ name: 'old-1' }),
      engine: 'kubeflow' as const,
      namespace: 'team-b'
    };
    const other = launchModel(server, { clone, tab: 'other' });
    await other.open();
    expect(other.state).toMatchObject({
      engine: 'kubeflow',
      namespace: 'team-b'
    });
    other.dispose();
  });

  describe('rows that are not finished', () => {
    const mount = {
      claim: '',
      mount_path: '/a',
      sub_path: null,
      read_only: false,
      volume: null
    };

    it('are no part of the spec, and pointers count the others', async () => {
      model.edit({ mounts: [mount, { ...mount, claim: 'own' }] }, '/mounts');
      expect(model.spec.mounts).toEqual([{ ...mount, claim: 'own' }]);
      model.setLabels([
        { name: '', value: 'x' },
        { name: 'a/b', value: 'y' }
      ]);
      expect(model.spec.labels).toEqual({ 'a/b': 'y' });
      const error = someCheck({ level: 'error', message: 'Gone.' });
      server.previewChanges = {
        checks: [
          { ...error, field: '/spec/mounts/0/claim' },
          { ...error, field: '/spec/labels/a~1b' }
        ]
      };
      await jest.advanceTimersByTimeAsync(1000);
      expect(model.checks.map(({ field }) => field)).toEqual([
        '/labels/0/name',
        '/mounts/0/claim',
        '/mounts/1/claim',
        '/labels/1/name'
      ]);
    });

    it('tolerate nothing', () => {
      const tolerations = [
        { key: '', operator: 'Exists' },
        { operator: 'Exists' }
      ];
      const { scheduling } = model.form.spec;
      model.edit({ scheduling: { ...scheduling, tolerations } }, '/x');
      expect(model.spec.scheduling.tolerations).toEqual([
        { operator: 'Exists' }
      ]);
    });

    it('name no secret', () => {
      model.setEnv([
        { name: 'TOKEN', value: null, secret: { name: 'hf', key: '' } }
      ]);
      expect(model.checks).toMatchObject([{ field: '/env/0/key' }]);
    });
  });
});
