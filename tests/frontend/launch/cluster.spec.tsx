import { StateDB } from '@jupyterlab/statedb';
import {
  act,
  cleanup,
  fireEvent,
  screen,
  waitFor,
  within
} from '@testing-library/react';
import { ILaunchActions } from '../../../src/launch/parts/context';
import { LaunchModel } from '../../../src/launch/model/launch';
import { LaunchStore } from '../../../src/launch/model/store';
import {
  ClusterServer,
  someCheck,
  someRuntime,
  someVolume
} from '../clusterFakes';
import { someEditors } from '../editors';
import { json } from '../fakes';
import { launchModel } from '../launchFakes';
import { drawLaunch, layOut, someActions } from '../launchView';

const editors = someEditors();

describe('the launch form of a cluster', () => {
  let server: ClusterServer;
  let model: LaunchModel;
  let actions: jest.Mocked<ILaunchActions>;
  let db: StateDB;

  beforeAll(() => {
    layOut(1200);
    Range.prototype.getClientRects = () => [] as unknown as DOMRectList;
  });

  beforeEach(() => {
    server = new ClusterServer();
    db = new StateDB();
    actions = someActions();
  });

  afterEach(() => model.dispose());

  const open = async (engine: 't9k' | 'kubeflow' = 't9k'): Promise<void> => {
    model = launchModel(server, { db, presetImages: () => ['preset:1'] });
    await model.open();
    await model.moveTo(engine);
    await show();
  };
  const show = async (): Promise<void> => {
    await drawLaunch(model, db, actions, editors);
  };
  const unfold = async (...names: string[]): Promise<void> => {
    for (const name of names) {
      await act(async () => {
        fireEvent.click(
          screen.getByRole('button', { name: new RegExp(`^${name}`) })
        );
      });
    }
  };
  const editAsYaml = (): Promise<void> =>
    act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Edit as YAML' }));
    });
  const field = (name: string): HTMLInputElement =>
    screen.getByLabelText<HTMLInputElement>(name, { exact: true });
  const type = (name: string, text: string): void => {
    fireEvent.change(field(name), { target: { value: text } });
  };
  const described = (name: string): string =>
    (field(name).getAttribute('aria-describedby') ?? '')
      .split(' ')
      .map(id => document.getElementById(id)?.textContent ?? '')
      .join(' ');
  const options = (): string[] =>
    screen
      .queryAllByRole('listbox')
      .flatMap(list => within(list).queryAllByRole('option'))
      .map(({ textContent }) => textContent ?? '');

  it('has the fields of its engine, and says what will start', async () => {
    await open();
    expect(screen.queryByLabelText('Kernel')).toBeNull();
    expect(
      screen.getByText('Start 1 node × 2 processes on T9k, namespace demo')
    ).toBeTruthy();
    type('GPUs on each node', '4');
    expect(
      screen.getByText('Start 1 node × 4 GPUs on T9k, namespace demo')
    ).toBeTruthy();
    expect(screen.getByText('4 GPUs, 2 processes')).toBeTruthy();
    const manifest = screen.getByRole('textbox', { name: 'Manifest as YAML' });
    expect(manifest.textContent).toContain('kind: PyTorchTrainingJob');
  });

  it.each([
    [
      [someCheck({ level: 'passed', code: 'DryRun', message: 'Accepted.' })],
      'This job can be submitted. The API server checked the job object. It did not check the pods and created nothing.'
    ],
    [
      [
        someCheck({ level: 'hint', code: 'DryRun', message: 'Accepted.' }),
        someCheck()
      ],
      'This job can be submitted. The API server checked the job object. It did not check the pods and created nothing. The warnings remain.'
    ],
    [
      [someCheck({ level: 'hint', code: 'NoDryRun', message: 'No.' })],
      'This job can be submitted. The API server could not check the job object; nothing was created.'
    ]
  ])('says what a dry run has checked', async (checks, sentence) => {
    await open();
    server.previewChanges = { checks };
    await act(() => model.dryRun());
    const [footer] = screen.getAllByRole('status').slice(-1);
    expect(footer.textContent?.trim()).toBe(sentence);
  });

  it('disables what the engine lacks, with the reason', async () => {
    await open('kubeflow');
    await unfold('Where', 'Lifecycle');
    expect(field('Priority').disabled).toBe(true);
    expect(described('Queue')).toContain('No priorities.');
    expect(field('Delete after').disabled).toBe(false);
    fireEvent.change(field('Restart'), { target: { value: 'ExitCode' } });
    expect(described('Restart')).toContain('Codes of 128 and more');
  });

  it('takes quantities as clusters write them', async () => {
    await open();
    type('Memory', '16Gi');
    type('CPU', '0.5');
    const [{ resources }] = model.spec.replica_specs;
    expect(resources.memory.limit).toBe('16Gi');
    expect(resources.cpu.limit).toBe('0.5');
    type('Memory', '16 GB');
    expect(field('Memory').getAttribute('aria-invalid')).toBe('true');
    expect(described('Memory')).toContain(
      'Enter a quantity such as 4, 500m or 16Gi.'
    );
    type('Memory', '');
    expect(model.spec.replica_specs[0].resources.memory.limit).toBeNull();
  });

  it('makes pods fit the restricted standard', async () => {
    await open();
    await unfold('Where', 'User and security');
    const box = field('Use the restricted pod security standard');
    expect(box.checked).toBe(false);
    fireEvent.click(box);
    expect(model.spec.security.restricted).toBe(true);
    expect(field('Use the restricted pod security standard').checked).toBe(
      true
    );
    await unfold('User and security');
    expect(screen.getByText('user of the image, restricted pods')).toBeTruthy();
  });

  it('offers images: the lab’s own, earlier ones, those of the settings', async () => {
    const cluster = server.prefill.engines[1].cluster;
    if (cluster) {
      cluster.image = 'lab:1';
      cluster.images = [
        someRuntime('torch', 'theirs:1', { namespace: 'other' }),
        someRuntime('torch-distributed', 'torch:1')
      ];
    }
    await new LaunchStore(db).saveImage('earlier:1');
    await open();
    await unfold('Where');
    fireEvent.keyDown(field('Image'), { key: 'ArrowDown' });
    expect(options()).toEqual([
      'lab:1the image of this lab',
      'earlier:1used last',
      'torch:1of the cluster’s training runtime torch-distributed',
      'preset:1from the settings'
    ]);
    fireEvent.keyDown(field('Image'), { key: 'ArrowDown' });
    fireEvent.keyDown(field('Image'), { key: 'Enter' });
    expect(model.spec.runtime.image).toBe('lab:1');
    expect(options()).not.toContain('lab:1the image of this lab');
    expect(described('Image')).toContain('the image of this lab');
  });

  it('offers the training runtimes of the cluster and of the namespace', async () => {
    const engine = server.prefill.engines[1];
    if (engine.cluster) {
      engine.cluster.images = [
        someRuntime('own', 'own:1', { namespace: 'demo', nodes: 2, gpus: 8 }),
        someRuntime('theirs', 'theirs:1', { namespace: 'other' }),
        someRuntime('torch-distributed', 'torch:1', { processes: 'auto' })
      ];
    }
    await open();
    await unfold('Where');
    expect(screen.queryByLabelText('Training runtime')).toBeNull();
    model.dispose();
    cleanup();
    db = new StateDB();
    engine.capabilities.training_runtime = { supported: true, reason: null };
    await open();
    await unfold('Where');
    const runtime = field('Training runtime');
    expect(runtime.value).toBe('');
    expect(described('Training runtime')).toContain(
      'torch · image torch:1 · processes per node: auto'
    );
    type('Image', 'torch:1');
    fireEvent.blur(field('Image'));
    type('Training runtime', 'torch-distributed'); // the one that it has
    expect(model.spec.runtime.image).toBe('torch:1');
    fireEvent.blur(runtime);
    fireEvent.keyDown(runtime, { key: 'ArrowDown' });
    expect(options()).toEqual([
      'demo/owntorch · image own:1 · 2 nodes · 8 GPUs per node',
      'torch-distributedtorch · image torch:1 · processes per node: auto'
    ]);
    fireEvent.keyDown(runtime, { key: 'ArrowDown' });
    fireEvent.keyDown(runtime, { key: 'Enter' });
    expect(model.spec.runtime).toMatchObject({
      training_runtime: { name: 'own', in_namespace: true },
      image: null
    });
    expect(field('Image').placeholder).toBe(
      'the image of the training runtime'
    );
    type('Image', 'mine:1');
    type('Training runtime', 'not-listed');
    expect(model.spec.runtime).toMatchObject({
      training_runtime: { name: 'not-listed', in_namespace: false },
      image: 'mine:1'
    });
    await unfold('Where');
    expect(
      screen.getByText(/^demo · runtime not-listed · image mine:1/)
    ).toBeTruthy();
    await unfold('Where');
    type('Training runtime', 'torch-distributed');
    expect(model.spec.runtime.training_runtime).toBeNull();
  });

  it('takes a namespace over when its field is left', async () => {
    await open();
    await unfold('Where');
    type('Namespace', 'team');
    expect(options()).toContain('team-b');
    expect(model.state.namespace).toBe('demo');
    type('Namespace', 'team-b');
    fireEvent.blur(field('Namespace'));
    expect(model.state.namespace).toBe('team-b');
  });

  it('mounts volumes, the lab’s own first', async () => {
    server.volumes = [
      someVolume('a'),
      someVolume('own', { lab_path: '/w', mount_path: '/t9k/mnt' })
    ];
    await open();
    await unfold('Data');
    fireEvent.click(screen.getByRole('button', { name: 'Add volume' }));
    expect(model.spec.mounts).toMatchObject([
      { claim: 'own', mount_path: '/t9k/mnt', read_only: false }
    ]);
    expect(described('Volume (PVC)')).toContain('in this lab at /w');
    type('Volume (PVC)', 'typed');
    type('Folder in the volume', 'sets');
    fireEvent.change(field('Access'), { target: { value: 'read' } });
    expect(model.spec.mounts).toMatchObject([
      { claim: 'typed', sub_path: 'sets', read_only: true }
    ]);
    type('Path in the job', '');
    expect(described('Path in the job')).toContain('Enter the path in the job');
    fireEvent.click(screen.getByRole('button', { name: /^Remove volume/ }));
    expect(model.spec.mounts).toEqual([]);
  });

  it('has config files: typed, or copied from the workspace', async () => {
    await open();
    await unfold('Data');
    fireEvent.click(screen.getByRole('button', { name: 'Add config file' }));
    expect(described('Path in the job')).toContain('Enter the path in the job');
    expect(model.spec.config_files).toEqual([]); // not before it has a path
    type('Path in the job', '/etc/nccl.conf');
    type('Text of /etc/nccl.conf', 'NCCL_DEBUG=INFO');
    expect(model.spec.config_files).toEqual([
      { path: '/etc/nccl.conf', text: 'NCCL_DEBUG=INFO' }
    ]);
    actions.chooseText.mockResolvedValueOnce({
      path: 'conf/topo.xml',
      text: '<a/>'
    });
    fireEvent.click(
      screen.getByRole('button', { name: 'Copy a file of the workspace…' })
    );
    await waitFor(() =>
      expect(model.spec.config_files[1]).toEqual({
        path: '/etc/topo.xml',
        text: '<a/>'
      })
    );
    fireEvent.click(
      screen.getByRole('button', { name: 'Remove config file /etc/nccl.conf' })
    );
    expect(model.spec.config_files.map(({ path }) => path)).toEqual([
      '/etc/topo.xml'
    ]);
  });

  it('says why volumes can’t be listed; their names can be typed', async () => {
    const { answer } = server;
    server.answer = request =>
      request.url.includes('/cluster/volumes')
        ? json({ message: 'You may not list PVCs.' }, 403)
        : answer(request);
    await open();
    await unfold('Data');
    expect(screen.getByText(/^You may not list PVCs\./)).toBeTruthy();
  });

  it('refers to secrets, and never has their values', async () => {
    await open();
    fireEvent.click(screen.getByRole('button', { name: 'OMP_NUM_THREADS' }));
    type('Value of OMP_NUM_THREADS', 'plain');
    const lock = screen.getByRole('button', {
      name: 'OMP_NUM_THREADS is a key of a secret'
    });
    fireEvent.click(lock);
    expect(lock.getAttribute('aria-pressed')).toBe('true');
    type('Secret of OMP_NUM_THREADS', 'hf');
    type('Key of the secret of OMP_NUM_THREADS', 'token');
    expect(model.spec.env).toEqual([
      {
        name: 'OMP_NUM_THREADS',
        value: null,
        secret: { name: 'hf', key: 'token' }
      }
    ]);
  });

  it('places replicas by labels and taints', async () => {
    await open();
    await unfold('Where', 'Placement');
    const placement = within(
      document.getElementById('t:fold-placement-body') as HTMLElement
    );
    fireEvent.click(placement.getByRole('button', { name: 'Add label' }));
    type('Name of label 1', 'gpu');
    type('Value of gpu', 'a100');
    fireEvent.click(placement.getByRole('button', { name: 'Add taint' }));
    expect(model.spec.scheduling.tolerations).toEqual([]);
    type('Taint', 'nvidia.com/gpu');
    type('Value of the taint', 'true');
    fireEvent.change(field('Effect of the taint'), {
      target: { value: 'NoSchedule' }
    });
    type('Priority class', 'high');
    expect(model.spec.scheduling).toMatchObject({
      node_selector: { gpu: 'a100' },
      tolerations: [
        {
          key: 'nvidia.com/gpu',
          operator: 'Equal',
          value: 'true',
          effect: 'NoSchedule'
        }
      ],
      priority_class: 'high'
    });
  });

  it('starts paused, or in debug mode', async () => {
    await open();
    await unfold('Lifecycle');
    fireEvent.click(screen.getByRole('radio', { name: 'Paused' }));
    expect(model.spec).toMatchObject({ paused: true, debug: null });
    expect(screen.getByText(/^Create a paused job: 1 node/)).toBeTruthy();
    fireEvent.click(screen.getByRole('radio', { name: /^Debug/ }));
    expect(model.spec).toMatchObject({
      paused: false,
      debug: { worker: { skip_init: false, command: ['sleep', 'inf'] } }
    });
    type('Command of worker', "sh -c 'sleep 5'");
    expect(model.spec.debug?.worker.command).toEqual(['sh', '-c', 'sleep 5']);
    type('Command of worker', "sh -c 'sleep");
    expect(screen.getAllByText('Close the quotes.')).not.toHaveLength(0);
  });

  it('can not continue an evicted job whose script can not resume', async () => {
    await open();
    await unfold('Lifecycle');
    expect(field('Run again from the newest checkpoint').disabled).toBe(true);
    expect(
      screen.getByText(/has no option that is known to take a checkpoint\.$/)
    ).toBeTruthy();
  });

  it('continues an evicted job if its script can resume', async () => {
    const box = (): HTMLInputElement =>
      field('Run again from the newest checkpoint');
    server.prefill.script.resume_option = '--resume';
    await open();
    await unfold('Lifecycle');
    expect(box().disabled).toBe(false);
    expect(
      screen.getByText(/The checkpoint is given as --resume\.$/)
    ).toBeTruthy();
    fireEvent.click(box());
    expect(model.spec.run_policy.resume_evicted).toBe(true);
    // A command has no options. The box can still be cleared.
    await act(async () => {
      model.edit(
        { entrypoint: { kind: 'command', value: 'sh' } },
        '/entrypoint/value'
      );
    });
    expect(screen.getByText(/^Only a script can have an option/)).toBeTruthy();
    fireEvent.click(box());
    expect(model.spec.run_policy.resume_evicted).toBe(false);
    expect(box().disabled).toBe(true);
  });

  it('says where the pods of an ended job can’t be chosen', async () => {
    const [, t9k] = server.prefill.engines;
    const reason = 'It always keeps those that have ended.';
    t9k.capabilities.clean_up = { supported: false, reason };
    await open();
    await unfold('Lifecycle');
    expect(field('When finished').disabled).toBe(true);
    expect(described('When finished')).toContain(reason);
    // A value of another engine can still be taken back.
    const { run_policy } = model.form.spec;
    await act(async () => {
      model.edit({ run_policy: { ...run_policy, clean_up: 'All' } }, '/x');
    });
    expect(field('When finished').disabled).toBe(false);
  });

  it('asks for a TensorBoard of the cluster’s', async () => {
    await open();
    await unfold('TensorBoard');
    fireEvent.click(screen.getByLabelText('Create a TensorBoard with the job'));
    type('Image of the TensorBoard', 'tb:1');
    expect(model.spec.tensorboard.cluster?.image).toBe('tb:1');
  });

  it('tells why an engine is off, and looks again', async () => {
    Object.assign(server.prefill.engines[2], {
      available: false,
      reason: 'There is no PyTorchJob.'
    });
    await open();
    expect(screen.queryByRole('radio', { name: /^Kubeflow/ })).toBeNull();
    fireEvent.click(
      screen.getByRole('button', { name: '1 engine that can’t be used' })
    );
    expect(screen.getByText('There is no PyTorchJob.')).toBeTruthy();
    server.prefill.engines[2].available = true;
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Check again' }));
    });
    expect(
      await screen.findByRole('radio', { name: /^Kubeflow/ })
    ).toBeTruthy();
  });

  it('says what the choice of the engine means', async () => {
    await open();
    const choice = screen.getByRole('radiogroup', {
      name: 'Where the job runs',
      description: 'Trains as a PyTorchTrainingJob.'
    });
    await act(() => model.moveTo('local'));
    expect(screen.queryByText('Trains as a PyTorchTrainingJob.')).toBeNull();
    expect(screen.getByText('Runs as processes of this machine.').id).toBe(
      choice.getAttribute('aria-describedby')
    );
  });

  it('says what was lost on the way, until that is read', async () => {
    await open();
    const { scheduling } = model.form.spec;
    await act(async () => {
      model.edit({ scheduling: { ...scheduling, queue: 'fast' } }, '/x');
      await model.moveTo('local');
    });
    expect(screen.getByText('Left out: No queues here.')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Dismiss' }));
    expect(screen.queryByText('Left out: No queues here.')).toBeNull();
  });

  it('says that the cluster does not answer, and what may not be done', async () => {
    const [, t9k, kubeflow] = server.prefill.engines;
    Object.assign(t9k.cluster ?? {}, {
      stale_since: 0,
      stale_reason: 'Connection refused.'
    });
    Object.assign(kubeflow.cluster ?? {}, {
      rights: {
        create_jobs: { supported: false, reason: 'Ask the owner of demo.' }
      }
    });
    await open();
    expect(screen.getByText(/has not answered since/)).toBeTruthy();
    expect(screen.getByText(/Connection refused\./)).toBeTruthy();
    await act(async () => model.moveTo('kubeflow'));
    expect(
      screen.getByText(
        'You don’t have permission to create jobs in namespace “demo”.'
      )
    ).toBeTruthy();
    await act(async () => {
      fireEvent.click(
        screen.getByRole('button', { name: 'Run on this machine' })
      );
    });
    expect(model.state.engine).toBe('local');
  });

  it('lets a pasted manifest be corrected that can’t be read', async () => {
    server.unreadable = { message: 'No job.' };
    const manifest = { name: 'pasted', path: null, text: 'kind: Deploy' };
    model = launchModel(server, { db, path: null, manifest });
    await model.open();
    await show();
    expect(screen.queryByRole('button', { name: 'Try again' })).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: 'Correct it…' }));
    expect(actions.correctManifest).toHaveBeenCalled();
  });

  it('is locked while the manifest is edited', async () => {
    await open();
    await editAsYaml();
    expect(model.isLocked).toBe(true);
    expect(field('Name').closest('fieldset')?.disabled).toBe(true);
    const local = screen.getByRole('radio', { name: 'This machine' });
    expect(local.getAttribute('aria-disabled')).toBe('true');
    fireEvent.click(screen.getAllByRole('button', { name: 'Back to form' })[0]);
    expect(actions.backToForm).toHaveBeenCalledTimes(1);
  });

  it('leads from a check to its line', async () => {
    server.previewChanges = {
      checks: [
        someCheck({ level: 'error', message: 'Wrong.', line: 2 }),
        someCheck({ level: 'warning', message: 'Odd as well.', line: 2 })
      ]
    };
    await open();
    await editAsYaml();
    const [link] = screen.getAllByRole('button', { name: 'line 2' });
    fireEvent.click(link);
    expect(document.activeElement?.getAttribute('aria-label')).toBe(
      'Manifest as YAML'
    );
    expect(
      [...document.querySelectorAll('.cm-line[data-mark]')].map(line => [
        line.getAttribute('data-mark'),
        line.textContent
      ])
    ).toEqual([['error', 'name: train-1']]);
  });

  it('names a place once, however much is wrong there', async () => {
    server.previewChanges = {
      checks: [0, 1].map(index =>
        someCheck({
          level: 'error',
          message: `Wrong: ${index}.`,
          field: `/spec/mounts/${index}/claim`
        })
      )
    };
    await open();
    const sentence = screen.getByText('2 errors to fix:').parentElement;
    expect(sentence?.textContent).toBe('2 errors to fix: Volumes');
  });

  it('leads to the manifest where the form is locked', async () => {
    server.previewChanges = {
      checks: [
        someCheck({
          level: 'error',
          message: 'There is no PVC data.',
          field: '/spec/mounts/0/claim'
        })
      ]
    };
    await open();
    expect(screen.getAllByRole('button', { name: 'Volumes' })).toHaveLength(2);
    await editAsYaml();
    expect(screen.queryByRole('button', { name: 'Volumes' })).toBeNull();
    expect(screen.getAllByText('There is no PVC data.')).toHaveLength(2);
    fireEvent.click(screen.getByRole('button', { name: 'Submit' }));
    expect(actions.submit).not.toHaveBeenCalled();
    expect(document.activeElement?.getAttribute('aria-label')).toBe(
      'Manifest as YAML'
    );
  });

  it('has the cluster’s own words below ours', async () => {
    server.created = () =>
      json(
        {
          message: 'The queue does not let you in.',
          hint: 'Choose another.',
          field: '/spec/scheduling/queue',
          verbatim: '[R001] denied'
        },
        403
      );
    await open();
    await act(async () => void (await model.submit()));
    expect(document.activeElement).toBe(field('Queue'));
    expect(described('Queue')).toContain('does not let you in');
    const alert = screen.getByRole('alert');
    expect(within(alert).getByText('[R001] denied')).toBeTruthy();
  });
});
