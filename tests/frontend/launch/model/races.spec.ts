/** Steps of a launch form that wait for the server, and what is submitted while they do. */
import { StateDB } from '@jupyterlab/statedb';
import {
  CreateJob,
  CreateSweep,
  EngineInfo,
  PrefillRequest
} from '../../../../src/api/types';
import { LaunchModel } from '../../../../src/launch/model/launch';
import { ILaunchOptions } from '../../../../src/launch/model/options';
import { ISavedTab, LaunchStore } from '../../../../src/launch/model/store';
import {
  answerSweeps,
  ClusterServer,
  someCheck,
  someEngines
} from '../../clusterFakes';
import { json } from '../../fakes';
import { launchModel, OPTIONS, someSpec } from '../../launchFakes';

const [, EPOCHS, LR] = OPTIONS;
const jobs = {
  engines: someEngines() as readonly EngineInfo[],
  changed: { connect: () => true }
} as unknown as NonNullable<ILaunchOptions['jobs']>;

/** Resolves when the jobs of a form's sweep are known. */
async function isSweepKnown(model: LaunchModel): Promise<void> {
  while (!model.sweepJobs.chosen.length) {
    await new Promise<void>(resolve => model.changed.connect(() => resolve()));
  }
}

describe('a launch form that waits', () => {
  let server: ClusterServer;
  let db: StateDB;
  let model: LaunchModel;

  beforeEach(async () => {
    server = new ClusterServer();
    db = new StateDB();
    const clone = { id: 'kubeflow:b:old:u', name: 'old', spec: someSpec() };
    const { answer } = server;
    model = launchModel(server, {
      db,
      jobs,
      clone: { ...clone, engine: 'kubeflow', namespace: 'team-b' }
    });
    await model.open();
    await model.startFrom('defaults');
    await model.moveTo('t9k');
    server.answer = answer;
    server.requests.length = 0;
  });

  afterEach(() => model.dispose());

  const creations = (): CreateJob[] => server.bodies('/jobs');
  /** Hold back the answers of a route until the function that is returned is called. */
  const hold = (route: string): (() => void) => {
    const { answer } = server;
    let release = (): void => undefined;
    const released = new Promise<void>(resolve => (release = resolve));
    server.answer = async request => {
      if (request.url.endsWith(route)) {
        await released;
      }
      return answer(request);
    };
    return () => {
      server.answer = answer;
      release();
    };
  };

  const STEPS: [string, string, () => Promise<unknown>, string][] = [
    [
      'goes to another engine',
      '/launch/prefill',
      () => model.moveTo('kubeflow'),
      'Filling in the form for Kubeflow…'
    ],
    [
      'comes home',
      '/launch/prefill',
      () => model.moveTo('local'),
      'Filling in the form for This machine…'
    ],
    [
      'is filled anew',
      '/launch/prefill',
      () => model.startFrom('job'),
      'Filling in the form…'
    ],
    [
      'reads another script',
      '/launch/prefill',
      () => model.setEntrypoint('script', '/w/other.py'),
      'Reading other.py…'
    ],
    [
      'becomes a manifest',
      '/launch/preview',
      async () => {
        model.setName('newest');
        await model.editAsYaml();
      },
      'Filling in the form…'
    ]
  ];

  it.each(STEPS)(
    'is not submitted while it %s, and says so',
    async (_, route, step, reason) => {
      const release = hold(route);
      const stepped = step();
      expect(model.pending).toBe(reason);
      expect(await model.submit()).toBeNull();
      await model.dryRun();
      expect(creations()).toEqual([]);
      release();
      await stepped;
      expect(model.pending).toBeNull();
      await model.submit();
      const { engine, namespace, path, manifest } = model.state;
      expect(creations()).toMatchObject([
        {
          ...{ engine, namespace, path, spec: model.spec },
          manifest: manifest?.text ?? null
        }
      ]);
    }
  );

  it('shows the old engine and its form until the job’s own is there', async () => {
    const release = hold('/launch/prefill');
    const started = model.startFrom('job');
    expect(model.state).toMatchObject({ engine: 't9k', start: 'defaults' });
    release();
    await started;
    expect(model.state).toMatchObject({
      engine: 'kubeflow',
      namespace: 'team-b',
      start: 'job'
    });
  });

  it('goes to another engine before its first preview is there', async () => {
    const release = hold('/launch/preview');
    const started = model.startFrom('job');
    await new Promise<void>(resolve =>
      model.changed.connect(
        ({ state }) => state.start === 'job' && !state.filling && resolve()
      )
    );
    const moved = model.moveTo('local');
    expect(model.pending).toBe('Filling in the form for This machine…');
    release();
    await Promise.all([started, moved]);
    expect(model.state).toMatchObject({ engine: 'local', filling: false });
    expect(model.preview.asked).toEqual(model.spec);
  });

  it('says why it could not be filled anew, and stays as it is', async () => {
    const { answer } = server;
    server.answer = request =>
      request.url.endsWith('/launch/prefill')
        ? json({ message: 'No cluster.' }, 502)
        : answer(request);
    await model.startFrom('job');
    expect(model.state).toMatchObject({ engine: 't9k', start: 'defaults' });
    expect(model.state.refusal?.message).toBe('No cluster.');
    expect(model.pending).toBeNull();
  });

  it('keeps what was entered while the script was read', async () => {
    const release = hold('/launch/prefill');
    const read = model.readScript();
    model.setOption(EPOCHS, '10');
    release();
    await read;
    expect(model.form.values).toMatchObject({ '--epochs': '10' });
  });

  it('goes to the other engine though the script is saved meanwhile, which is read then', async () => {
    const release = hold('/launch/prefill');
    const moved = model.moveTo('kubeflow');
    await model.readScript();
    release();
    await moved;
    expect(model.state.engine).toBe('kubeflow');
    await new Promise<void>(resolve =>
      model.changed.connect(() => model.pending ?? resolve())
    );
    expect(
      server
        .bodies<PrefillRequest>('/launch/prefill')
        .map(({ engine }) => engine)
    ).toEqual(['kubeflow', 'kubeflow']);
  });

  it('is the manifest of the form as it is, though an edit came in between', async () => {
    model.setName('first');
    const release = hold('/launch/preview');
    const edited = model.editAsYaml();
    model.setName('second');
    release();
    await edited;
    expect(model.state.manifest?.text).toContain(`name: ${model.spec.name}\n`);
  });

  it('stays a form where the newest manifest can’t be had', async () => {
    const { answer } = server;
    server.answer = request =>
      request.url.endsWith('/launch/preview')
        ? json({ message: 'Busy.' }, 503)
        : answer(request);
    model.setName('newest');
    await model.editAsYaml();
    expect(model.state.manifest).toBeNull();
    expect(model.preview.failure?.message).toBe('Busy.');
  });

  describe('that is submitted', () => {
    it('takes no edit until the answer is there', async () => {
      const release = hold('/jobs');
      const submitted = model.submit();
      const { spec } = model;
      model.setName('late');
      model.setOption(LR, '7');
      model.setNamespace('team-b');
      await model.setEntrypoint('script', '/w/late.py');
      await model.moveTo('local');
      await model.startFrom('job');
      expect(model.spec).toEqual(spec);
      release();
      await submitted;
      expect(creations()).toMatchObject([{ engine: 't9k', spec }]);
    });

    it('takes no second submission, not even before its file is saved', async () => {
      let save: (isSaved: boolean) => void = () => undefined;
      const saved = new Promise<boolean>(resolve => (save = resolve));
      const isReady = jest.fn(() => saved);
      const first = model.submit(isReady);
      expect(await model.submit(isReady)).toBeNull();
      save(true);
      expect(await first).not.toBeNull();
      expect(await model.submit(isReady)).toBeNull(); // the tab is about to close
      expect(isReady).toHaveBeenCalledTimes(1);
      expect(creations()).toHaveLength(1);
    });

    it('can be edited again after a refusal, or where the file was not saved', async () => {
      server.created = () => json({ message: 'Full.' }, 503);
      await model.submit();
      await model.submit(async () => false);
      expect(model.state.busy).toBeNull();
      model.setName('next');
      expect(model.spec.name).toBe('next');
    });

    describe('with a file that is saved', () => {
      const routes = (): (string | undefined)[] =>
        server.requests.map(({ url }) => url.split('/').pop());
      /** Save the file. The tabs read it at once. */
      const save = async (): Promise<boolean> => {
        void model.readScript();
        return true;
      };
      const isRead = (): Promise<void> =>
        new Promise(resolve => {
          let isReading = false;
          model.changed.connect(({ state }) => {
            if (isReading && !state.reading) {
              resolve();
            }
            isReading = state.reading;
          });
        });

      afterEach(() => jest.useRealTimers());

      it('is read before the request, whose refusal stays', async () => {
        server.created = () => json({ message: 'The name is taken.' }, 409);
        await model.submit(save);
        expect(model.state.refusal?.message).toBe('The name is taken.');
        expect(model.pending).toBeNull();
        expect(routes()).toEqual(['prefill', 'jobs']);
      });

      it('is read before a dry run, whose result stays', async () => {
        jest.useFakeTimers();
        await model.dryRun(save);
        expect(model.state.dryRunPassed).toBe(true);
        expect(model.pending).toBeNull();
        expect(routes()).toEqual(['prefill', 'jobs']);
        const check = someCheck({ level: 'error', field: '/spec/name' });
        server.previewChanges = { checks: [check] };
        await model.dryRun(save);
        server.previewChanges = {};
        await jest.advanceTimersByTimeAsync(1000); // a preview of the form would replace the result
        expect(model.checks.map(({ message }) => message)).toEqual([
          check.message
        ]);
      });

      it('is a corrected one: a refusal of the script does not outlive it', async () => {
        server.created = () =>
          json(
            { message: 'Syntax error', field: '/spec/entrypoint/value' },
            422
          );
        await model.submit(save);
        expect(model.state.refusal?.message).toBe('Syntax error');
        await model.readScript();
        expect(model.state.refusal).toBeNull();
      });

      it('may end the sweep, of which nothing is created then', async () => {
        answerSweeps(server);
        model.setValues(LR, '0.1, 0.01');
        await model.sweepJobs.refresh();
        const { script } = server.prefill;
        server.prefill.script = { ...script, options: [EPOCHS] };
        expect(await model.submitSweep(save)).toBeNull();
        expect(model.state.refusal?.hint).toBe(
          'Check the form and submit again.'
        );
        expect(model.state.busy).toBeNull();
        expect(model.isSweep).toBe(false);
        expect(routes()).not.toContain('sweeps');
      });

      it('during the request keeps the refusal, unless the arguments change', async () => {
        server.created = () => json({ message: 'The name is taken.' }, 409);
        const submit = async (): Promise<void> => {
          const release = hold('/jobs');
          const submitted = model.submit();
          await model.readScript();
          const read = isRead();
          release();
          await submitted;
          await read;
        };
        await submit();
        expect(model.state.refusal?.message).toBe('The name is taken.');
        model.setMore('--epochs=7'); // becomes the value of the field
        await submit();
        expect(model.form.values).toMatchObject({ '--epochs': '7' });
        expect(model.state.refusal).toBeNull();
      });
    });

    it('asks for the same job by the same id, also after a reload, whatever was read meanwhile', async () => {
      server.created = () => {
        throw new TypeError('gone');
      };
      await model.submit();
      expect(model.state.refusal).toMatchObject({
        hint: expect.stringContaining('not known whether'),
        verbatim: null // with it, the footer says that the job was not created
      });
      await model.readScript();
      await model.submit();
      model.setOption(EPOCHS, '10');
      model.setOption(EPOCHS, null);
      await model.submit();
      const store = new LaunchStore(db);
      const saved = (await store.tab('tab')) as ISavedTab;
      const again = launchModel(server, { db, jobs });
      await again.open();
      await again.readScript();
      await again.submit();
      again.setName('next');
      await again.submit();
      const ids = creations().map(({ request_id }) => request_id);
      expect(ids).toHaveLength(5);
      expect(new Set(ids.slice(0, 4)).size).toBe(1);
      expect(ids[4]).not.toBe(ids[0]);
      again.dispose();

      // A tab of an older version.
      const { sent, ...old } = saved;
      expect(sent).toBeTruthy();
      await store.saveTab('old', old);
      const older = launchModel(server, { db, jobs, tab: 'old' });
      await older.open();
      expect(older.spec).toEqual(model.spec);
      older.dispose();
    });
  });

  it('asks for the same sweep by the same id, also after a reload, until it is changed', async () => {
    answerSweeps(server);
    server.created = () => {
      throw new TypeError('gone');
    };
    model.setValues(LR, '0.1, 0.01');
    await model.sweepJobs.refresh();
    await model.submitSweep();
    expect(model.state.refusal?.hint).toBe(
      'It is not known whether the jobs were created. Submit again when the server is back: no job is created twice.'
    );
    model.setOption(EPOCHS, '10');
    model.setOption(EPOCHS, null);
    await model.submitSweep();
    const again = launchModel(server, { db, jobs });
    await again.open();
    await isSweepKnown(again);
    again.setOption(EPOCHS, '10');
    again.setOption(EPOCHS, null);
    await again.submitSweep();
    again.setName('next');
    await again.submitSweep();
    again.dispose();
    const ids = server
      .bodies<CreateSweep>('/sweeps')
      .map(({ request_id }) => request_id);
    expect(ids).toHaveLength(4);
    expect(new Set(ids.slice(0, 3)).size).toBe(1);
    expect(ids[3]).not.toBe(ids[0]);
  });

  it('is not called fit for submission by a dry run of what it was', async () => {
    const release = hold('/jobs');
    const checked = model.dryRun();
    model.setName('next');
    release();
    await checked;
    expect(model.state.dryRunPassed).toBe(false);
  });
});
