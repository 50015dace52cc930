import { StateDB } from '@jupyterlab/statedb';
import {
  CreateJob,
  PrefillRequest,
  PreviewRequest
} from '../../../../src/api/types';
import { LaunchModel } from '../../../../src/launch/model/launch';
import { someCheck } from '../../clusterFakes';
import { json } from '../../fakes';
import {
  launchModel,
  LaunchServer,
  option,
  OPTIONS,
  somePrefill,
  someSpec
} from '../../launchFakes';

const [, EPOCHS] = OPTIONS;

describe('LaunchModel', () => {
  let server: LaunchServer;
  let db: StateDB;
  let model: LaunchModel;

  beforeEach(async () => {
    jest.useFakeTimers();
    server = new LaunchServer();
    db = new StateDB();
    model = launchModel(server, { db });
    await model.open();
  });

  afterEach(() => {
    model.dispose();
    jest.useRealTimers();
  });

  const previews = (): PreviewRequest[] => server.bodies('/launch/preview');
  const creations = (): CreateJob[] => server.bodies('/jobs');
  const errors = (): [string | null, string][] =>
    model.checks
      .filter(({ level }) => level === 'error')
      .map(({ field, message }) => [field, message]);

  it('opens as the server fills it, with its preview', () => {
    expect(model.spec).toEqual(someSpec());
    expect(model.state.start).toBe('defaults');
    expect(model.preview.shown?.summary).toBe('2 processes on this machine');
    expect(model.preview.editedLines.size).toBe(0);
    expect(previews()).toHaveLength(1);
  });

  describe('the preview', () => {
    it('follows the last of several edits, and marks its lines', async () => {
      model.setOption(EPOCHS, '1');
      model.setOption(EPOCHS, '10');
      await jest.advanceTimersByTimeAsync(1000);
      expect(previews()).toHaveLength(2);
      const lines = model.preview.shown?.command.split('\n') ?? [];
      expect([...model.preview.editedLines].map(line => lines[line])).toEqual([
        '--epochs \\',
        '10 \\'
      ]);
    });

    it('drops the answer to an older question', async () => {
      const answers: (() => void)[] = [];
      const { answer } = server;
      server.answer = request =>
        new Promise<Response>(resolve =>
          answers.push(() => resolve(answer(request)))
        ) as unknown as Response;
      model.setOption(EPOCHS, '1');
      await jest.advanceTimersByTimeAsync(1000);
      model.setOption(EPOCHS, '2');
      await jest.advanceTimersByTimeAsync(1000);
      expect(answers).toHaveLength(2);
      answers[1]();
      await jest.advanceTimersByTimeAsync(0);
      answers[0]();
      await jest.advanceTimersByTimeAsync(0);
      expect(model.preview.shown?.command).toMatch(/--epochs \\\n2 /);
    });

    it('stays, and says that it may be behind, when the server is away', async () => {
      server.answer = () => {
        throw new TypeError('refused');
      };
      model.setOption(EPOCHS, '10');
      await jest.advanceTimersByTimeAsync(1000);
      expect(model.preview.shown?.command).toMatch(/model.pt$/);
      expect(model.preview.failure?.code).toBe('NoAnswer');
      expect(errors()).toEqual([]);
    });

    it('loses the errors of fields that have changed since, when the next request is refused', async () => {
      const check = someCheck({ level: 'error', field: '/spec/name' });
      server.previewChanges = { checks: [check] };
      model.setOption(EPOCHS, '10');
      await jest.advanceTimersByTimeAsync(1000);
      expect(errors()).toEqual([['/name', check.message]]);
      server.answer = () => {
        throw new TypeError('refused');
      };
      model.setName('train-2');
      await jest.advanceTimersByTimeAsync(1000);
      expect(model.preview.failure?.code).toBe('NoAnswer');
      expect(errors()).toEqual([]);
    });
  });

  it('finds its checks once for each change', async () => {
    const { checks, spec } = model;
    expect(model.checks).toBe(checks);
    expect(model.spec).toBe(spec);
    model.setMore('"');
    expect(errors()).toHaveLength(1);
    expect(model.checks).toBe(model.checks);
    model.setMore('a');
    expect(errors()).toEqual([]);
    expect(model.spec.args).toContain('a');
    const check = someCheck({ level: 'error', field: '/spec/name' });
    server.previewChanges = { checks: [check] };
    await jest.advanceTimersByTimeAsync(1000);
    expect(errors()).toEqual([['/name', check.message]]);
  });

  describe('a field that is certainly wrong', () => {
    it('is named, and keeps the last good content in the spec', () => {
      model.setName('My Job');
      model.setOption(EPOCHS, 'many');
      model.setMore('"a');
      model.setEnv([
        { name: '1A', value: '', secret: null },
        { name: 'B', value: '', secret: null },
        { name: 'B', value: '', secret: null }
      ]);
      expect(errors().map(([field]) => field)).toEqual([
        '/name',
        '--epochs',
        '/args',
        '/env/0/name',
        '/env/2/name'
      ]);
      expect(model.spec.name).toBe('train-1');
      expect(model.spec.env.map(({ name }) => name)).toEqual(['B', 'B']);
    });

    it('is right again after the next good edit', () => {
      model.setName('');
      model.setName('train-7');
      expect(errors()).toEqual([]);
      expect(model.spec.tensorboard.log_dirs).toEqual([
        '/w/mnist/runs/train-7'
      ]);
    });
  });

  it('says what the server says, at its field, once', async () => {
    const check = {
      level: 'error' as const,
      code: 'NameTaken',
      message: 'Taken.',
      hint: null,
      field: '/spec/name',
      option: null,
      line: null,
      column: null,
      link: null,
      fix: null
    };
    server.previewChanges = { checks: [check, check] };
    model.setName('train-2');
    await jest.advanceTimersByTimeAsync(1000);
    expect(errors()).toEqual([['/name', 'Taken.']]);
    model.setOption(EPOCHS, '10');
    expect(errors()).toHaveLength(1); // the name is the same
    model.setName('train-3');
    expect(errors()).toEqual([]); // it was about another name
    await jest.advanceTimersByTimeAsync(1000);
    expect(errors()).toEqual([['/name', 'Taken.']]);
    model.setName('No Name');
    expect(errors()).toHaveLength(1);
    expect(errors()[0][1]).toContain('small letters');
  });

  describe('submission', () => {
    it('creates what the form says, and remembers it for the next time', async () => {
      model.setOption(EPOCHS, '10');
      expect((await model.submit())?.id).toBe('local::train-1:u1');
      expect(creations()[0]).toMatchObject({
        engine: 'local',
        path: 'mnist/train.py',
        spec: { args: ['--epochs', '10', ...someSpec().args] }
      });

      const next = launchModel(server, { db, tab: 'next' });
      await next.open();
      expect(next.state.start).toBe('last');
      expect(next.form.values).toMatchObject({ '--epochs': '10' });
      await next.startFrom('defaults');
      expect(next.form.values).not.toHaveProperty('--epochs');
      next.dispose();
    });

    it('does nothing while another is on its way', async () => {
      const first = model.submit();
      expect(model.state.busy).toBe('submitting');
      expect(await model.submit()).toBeNull();
      await first;
      expect(creations()).toHaveLength(1);
    });

    it('repeats its request id until something is changed', async () => {
      server.created = () => json({ message: 'Busy.' }, 503);
      await model.submit();
      await model.submit();
      model.setOption(EPOCHS, '10');
      await model.submit();
      const [first, second, third] = creations().map(body => body.request_id);
      expect(second).toBe(first);
      expect(third).not.toBe(first);
    });

    it('shows a refusal at its field until something is changed', async () => {
      server.created = () =>
        json(
          { message: 'No such file.', field: '/spec/args/3', hint: 'Look.' },
          422
        );
      expect(await model.submit()).toBeNull();
      expect(errors()).toEqual([['--save_path', 'No such file.']]);
      model.setOption(EPOCHS, '10');
      expect(errors()).toEqual([]);
    });

    it('keeps a refusal that names no field', async () => {
      server.created = () => json({ message: 'Full.' }, 503);
      await model.submit();
      expect(model.state.refusal?.message).toBe('Full.');
      expect(errors()).toEqual([]);
    });
  });

  it('can be validated without creating anything', async () => {
    server.previewChanges = { summary: 'checked' };
    await model.dryRun();
    expect(creations()).toMatchObject([{ dry_run: true }]);
    expect(model.preview.shown?.summary).toBe('checked');
    expect(model.state.dryRunPassed).toBe(true);
    model.setOption(EPOCHS, '10');
    expect(model.state.dryRunPassed).toBe(false);
  });

  describe('after a reload of the page', () => {
    it('has its edits, also unfinished ones, and its request id', async () => {
      model.setOption(EPOCHS, '10');
      model.setName('My Job');
      await jest.advanceTimersByTimeAsync(1000);
      const again = launchModel(server, { db });
      await again.open();
      expect(again.form).toEqual(model.form);
      expect(errors().map(([field]) => field)).toEqual(['/name']);
      again.setName('other');
      expect(again.spec.args.slice(2, 4)).toEqual(['--log_dir', 'runs/other']);
      again.dispose();
    });

    it('begins anew where what was kept is of no use', async () => {
      await model.save();
      const { answer } = server;
      server.answer = request =>
        (request.body as PrefillRequest).spec &&
        request.url.endsWith('/launch/prefill')
          ? json({ message: 'Unknown field.' }, 422)
          : answer(request);
      const again = launchModel(server, { db });
      await again.open();
      expect(again.spec).toEqual(someSpec());
      expect(again.state.failure).toBeNull();
      again.dispose();
    });
  });

  it('starts from a job’s spec', async () => {
    const clone = { name: 'old', spec: someSpec({ args: ['--epochs', '3'] }) };
    const cloned = launchModel(server, { db, clone });
    await cloned.open();
    expect(cloned.state.start).toBe('job');
    expect(cloned.form.values).toEqual({ '--epochs': '3' });
    cloned.dispose();
  });

  describe('without a file', () => {
    const clone = {
      name: 'old',
      spec: someSpec({
        entrypoint: { kind: 'command', value: 'make' },
        args: ['--log_dir=runs/train-1', 'a b']
      })
    };
    let fileless: LaunchModel;

    beforeEach(async () => {
      server.prefill = somePrefill({
        path: null,
        spec: clone.spec,
        script: { ...somePrefill().script, options: [] },
        follow_name: []
      });
      fileless = launchModel(server, { path: null, clone });
      await fileless.open();
    });

    afterEach(() => fileless.dispose());

    it('goes by the name of the job that it starts from', () => {
      expect(fileless.name).toBe('old');
      expect(fileless.form.more).toBe("--log_dir=runs/train-1 'a b'");
    });

    it('takes the directories in the arguments along with the name', () => {
      fileless.setName('next');
      expect(fileless.spec).toMatchObject({
        args: ['--log_dir=runs/next', 'a b'],
        tensorboard: { log_dirs: ['/w/mnist/runs/next'] }
      });
    });

    it('asks what is to be run in another way, and knows the first one', async () => {
      await fileless.setKind('module');
      expect(fileless.checks.map(({ message }) => message)).toEqual([
        'Enter a script, module or command.'
      ]);
      await fileless.setKind('command');
      expect(fileless.spec.entrypoint).toEqual(clone.spec.entrypoint);
      expect(fileless.checks).toEqual([]);
    });

    it('has the file’s options once one is named', async () => {
      server.prefill = somePrefill();
      await fileless.setKind('script');
      await fileless.setEntrypoint('script', '/w/mnist/train.py');
      expect(fileless.name).toBe('train.py');
      expect(fileless.scriptOptions).toEqual(OPTIONS);
      expect(fileless.form.values).toEqual({ '--log_dir': 'runs/train-1' });
    });

    it('says why it could not be filled, and asks once', async () => {
      server.answer = () => json({ message: 'Unknown field.' }, 422);
      const other = launchModel(server, { path: null, clone, tab: 'other' });
      await other.open();
      expect(other.state.failure?.message).toBe('Unknown field.');
      expect(server.bodies('/launch/prefill')).toHaveLength(3);
      other.dispose();
    });
  });

  it('reads the script again without losing what was entered', async () => {
    model.setOption(EPOCHS, '10');
    server.prefill = {
      ...server.prefill,
      script: {
        ...server.prefill.script,
        options: OPTIONS.filter(option => option !== EPOCHS)
      }
    };
    await model.readScript();
    expect(model.form.more).toBe('--epochs 10');
    expect(model.spec.args.slice(-2)).toEqual(['--epochs', '10']);
  });

  it('marks no field as edited last whose text has become an option', async () => {
    const { prefill } = server;
    const options = OPTIONS.filter(option => option !== EPOCHS);
    server.prefill = { ...prefill, script: { ...prefill.script, options } };
    await model.readScript();
    model.setMore('--epochs 10');
    expect(model.state.lastEdited).toBe('/args');
    server.prefill = prefill;
    await model.readScript();
    expect(model.form).toMatchObject({
      more: '',
      values: { '--epochs': '10' }
    });
    expect(model.state.lastEdited).toBeNull();
  });

  it('reads the options of another file that is typed', async () => {
    await model.setEntrypoint('script', '/w/other.py');
    expect(model.state.path).toBe('other.py');
    expect(server.bodies<PrefillRequest>('/launch/prefill')).toHaveLength(2);
    await model.setEntrypoint('script', '');
    expect(errors()).toEqual([
      ['/entrypoint/value', 'Enter a script, module or command.']
    ]);
  });

  it('works in the folder of the file that is typed, letter by letter', async () => {
    for (const text of ['', '/', '/d', '/data', '/data/', '/data/train.py']) {
      await model.setEntrypoint('script', text);
    }
    expect(model.spec.working_dir).toBe('/data');
    expect(model.spec.tensorboard.log_dirs).toEqual(['/data/runs/train-1']);
    // an empty directory is the script's folder, and one that is half typed moves nothing
    for (const directory of [null, 'da', null]) {
      model.setWorkingDir(directory);
      expect(model.spec.tensorboard.log_dirs).toEqual(['/data/runs/train-1']);
    }
    model.setWorkingDir('/elsewhere');
    expect(model.spec.tensorboard.log_dirs).toEqual([
      '/elsewhere/runs/train-1'
    ]);
    await model.setEntrypoint('script', '/data/deep/train.py');
    expect(model.spec.working_dir).toBe('/elsewhere');
  });

  it('says which argument would get the value of another', async () => {
    const positionals = ['src', 'dst'].map(name =>
      option(name, { default: null })
    );
    server.prefill = somePrefill({
      script: { ...somePrefill().script, options: positionals }
    });
    const copying = launchModel(server, { db: new StateDB() });
    await copying.open();
    copying.setMore('');
    copying.setOption(positionals[1], 'out');
    const found = (): unknown[] =>
      copying.checks
        .filter(({ level }) => level === 'error')
        .map(({ field, message, hint }) => [field, message, hint]);
    expect(found()).toEqual([
      [
        'src',
        'src would get the value of dst: the script tells them apart only by their order.',
        'Enter a value for src.'
      ]
    ]);
    copying.setOption(positionals[0], 'in');
    expect(found()).toEqual([]);
    expect(copying.spec.args).toEqual(['in', 'out']);
    copying.dispose();
  });

  it('runs the same file as a module, with the same arguments', async () => {
    await model.setKind('module');
    expect(model.spec).toMatchObject({
      entrypoint: { kind: 'module', value: 'mnist.train' },
      working_dir: '/w',
      args: someSpec().args
    });
    await model.setKind('command');
    expect(model.scriptOptions).toEqual([]);
    expect(model.spec.args).toEqual(someSpec().args);
  });

  it('says why it could not be filled', async () => {
    server.answer = () => json({ message: 'gone.py does not exist.' }, 404);
    const gone = launchModel(server, { path: 'gone.py' });
    await gone.open();
    expect(gone.state.form).toBeNull();
    expect(gone.state.failure?.message).toBe('gone.py does not exist.');
    gone.dispose();
  });
});
