/** How much of the launch form a change draws, and that it is all that has to be drawn. */
import { IEditorServices } from '@jupyterlab/codeeditor';
import { StateDB } from '@jupyterlab/statedb';
import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import { ApiClient } from '../../../src/api/client';
import { EngineName } from '../../../src/api/aliases';
import { JobSpec } from '../../../src/api/types';
import { GPU } from '../../../src/launch/content/form';
import { Jobs } from '../../../src/jobs/model/jobs';
import { LaunchModel } from '../../../src/launch/model/launch';
import { LaunchStore } from '../../../src/launch/model/store';
import { Shown, someCapacity, somePool } from '../capacityFakes';
import { ClusterServer, someCheck, someEngines } from '../clusterFakes';
import { drawn } from '../drawn';
import { delta, json, snapshot } from '../fakes';
import { launchModel, OPTIONS } from '../launchFakes';
import { drawLaunch, layOut, someActions } from '../launchView';

jest.mock('../../../src/launch/parts/Row', () =>
  mockByField('../../../src/launch/parts/Row', 'Row')
);
jest.mock('../../../src/launch/parts/TextField', () =>
  mockByField('../../../src/launch/parts/TextField', 'TextField')
);
jest.mock('../../../src/launch/parts/NumberField', () =>
  mockByField('../../../src/launch/parts/NumberField', 'Spinner')
);
jest.mock('../../../src/launch/parts/choices', () =>
  mockByField('../../../src/launch/parts/choices', 'Select')
);
jest.mock('../../../src/launch/parts/groups/Summary', () => {
  const { noted } = jest.requireActual('../drawn');
  const parts = jest.requireActual('../../../src/launch/parts/groups/Summary');
  return { SummaryText: noted(parts.SummaryText, () => 'summary') };
});
jest.mock('../../../src/launch/form/Header', () => ({
  Header: mockNoted('form/Header')
}));
jest.mock('../../../src/launch/form/Notices', () => ({
  Notices: mockNoted('form/Notices')
}));
jest.mock('../../../src/launch/preview/Footer', () => ({
  Footer: mockNoted('preview/Footer')
}));
jest.mock('../../../src/launch/preview/CommandPane', () => ({
  ...jest.requireActual('../../../src/launch/preview/CommandPane'),
  CommandPane: mockNoted('preview/CommandPane')
}));
jest.mock('../../../src/launch/preview/ManifestPane', () => ({
  ManifestPane: mockNoted('preview/ManifestPane')
}));
jest.mock('../../../src/launch/preview/Checks', () => ({
  ...jest.requireActual('../../../src/launch/preview/Checks'),
  Checks: mockNoted('preview/Checks')
}));
jest.mock('../../../src/ui/editor/YamlEditor', () => ({
  YamlEditor: (props: object) => JSON.stringify(props)
}));
jest.mock('../../../src/launch/fields/size/FreeNow', () => ({
  FreeNow: mockNoted('fields/size/FreeNow')
}));

/** A module one of whose parts notes the field that it is drawn for. */
function mockByField(module: string, part: string): object {
  const { noted } = jest.requireActual('../drawn');
  const parts = jest.requireActual(module);
  const byField = (props: Record<string, string>): string =>
    props.field ?? props['data-field'];
  return { ...parts, [part]: noted(parts[part], byField) };
}

/** A module's component of the same name, noted by that. */
function mockNoted(module: string): unknown {
  const name = module.replace(/.*\//, '');
  const { noted } = jest.requireActual('../drawn');
  const parts = jest.requireActual(`../../../src/launch/${module}`);
  return noted(parts[name], () => name);
}

const editors = {} as IEditorServices;
const LABEL = 'nvidia.com/gpu.product';
const ALL_GROUPS = [
  ...['what', 'size', 'where', 'data', 'lifecycle', 'tensorboard'],
  ...['image', 'placement', 'security']
];

describe('the launch form', () => {
  let server: ClusterServer;
  let jobs: Jobs;
  let db: StateDB;
  let model: LaunchModel;

  beforeAll(() => {
    layOut(1200);
    new Shown();
    Range.prototype.getClientRects = () => [] as unknown as DOMRectList;
  });

  beforeEach(() => {
    server = new ClusterServer();
    const { answer } = server;
    server.answer = request =>
      request.url.includes('/cluster/capacity')
        ? json(someCapacity())
        : answer(request);
    jobs = new Jobs(new ApiClient(server.settings()));
    db = new StateDB();
  });

  afterEach(() => {
    model.dispose();
    jobs.dispose();
  });

  const open = async (
    engine: EngineName,
    areGroupsOpen: boolean
  ): Promise<void> => {
    server.socket.open();
    server.socket.push(
      snapshot({ engines: someEngines(), capacity: someCapacity() })
    );
    await new LaunchStore(db).saveOpenGroups(
      Object.fromEntries(ALL_GROUPS.map(name => [name, areGroupsOpen]))
    );
    model = launchModel(server, { db, jobs });
    await model.open();
    await model.moveTo(engine);
    await drawLaunch(model, db, someActions(), editors);
    await settle();
  };
  /** Let what was asked of the server be answered and drawn, but for the preview of an edit. */
  const settle = (): Promise<void> =>
    act(async () => {
      await new Promise(requestAnimationFrame);
      await new Promise(requestAnimationFrame);
    });
  const control = (field: string): HTMLInputElement =>
    document.getElementById(`t:${field}`) as HTMLInputElement;
  const drawnBy = (change: () => void): string[] => {
    drawn.clear();
    act(change);
    return [...drawn].sort();
  };
  /** Parts that a character draws in a field in which there was one typed before. */
  const typed = (field: string): string[] => {
    const { value } = control(field);
    const type = (text: string): void => {
      fireEvent.change(control(field), { target: { value: text } });
    };
    type(`${value}1`);
    return drawnBy(() => type(`${value}12`));
  };

  it.each<[string, string[]]>([
    ['/args', []],
    ['--lr', []],
    // These hold the name.
    ['/name', ['--log_dir', '--save_path', '/tensorboard/log_dirs/0']],
    ['/torchrun/proc_per_node', []],
    ['/torchrun/extra_options', []],
    ['/torchrun/max_restarts', []]
  ])(
    'on this machine, a character in %s draws that field and %j',
    async (field, others) => {
      await open('local', true);
      expect(typed(field)).toEqual([field, ...others].sort());
    }
  );

  it('in a cluster, a character draws its field and what depends on it', async () => {
    await open('t9k', true);
    const size = '/replica_specs/0/replicas';
    const device = '/replica_specs/0/resources/device';
    const memory = '/replica_specs/0/resources/memory';
    expect(typed(size)).toEqual(['/elastic/min', size, 'Footer']);
    expect(typed(device)).toEqual([size, 'Footer']);
    // Without a value of its own, the request is the limit.
    expect(typed(`${memory}/limit`)).toEqual([
      `${memory}/limit`,
      `${memory}/request`
    ]);
    expect(typed('/scheduling/queue')).toEqual(['/scheduling/queue', 'Footer']);
    expect(typed('/runtime/image')).toEqual(['/runtime/image']);
    expect(typed('/args')).toEqual(['/args']);
    await waitFor(() => expect([...drawn]).toContain('ManifestPane'));
    await settle();
    drawn.clear();
    const capacity = someCapacity({ mine: {} });
    await act(async () => server.socket.push(delta({ capacity })));
    await settle();
    expect([...drawn]).toEqual(['FreeNow']);
  });

  it('draws its line of a folded group, and no field in it', async () => {
    await open('local', false);
    expect(drawnBy(() => model.setMore('a'))).toEqual(['summary']);
  });

  it('draws the preview when it comes, and no field', async () => {
    await open('local', true);
    act(() => model.setMore('a'));
    drawn.clear();
    await act(() => model.preview.refresh());
    expect([...drawn].sort()).toEqual(['CommandPane']);
  });

  /** What is to be seen of an element, a line for each in it; with the states of controls, which are no attributes. */
  const shownOf = (element: Element): string[] => {
    const attributes = [...element.attributes]
      .filter(({ name }) => name !== 'checked') // as it was at first
      .map(({ name, value }) => `${name}="${value}"`)
      .sort();
    const { value, checked, disabled } = element as HTMLInputElement;
    const state = JSON.stringify({ value, checked, disabled });
    const line = [element.tagName, ...attributes, state].join(' ');
    const inside = [...element.childNodes].flatMap(child =>
      child instanceof Element ? shownOf(child) : [child.textContent ?? '']
    );
    return [line, ...inside];
  };
  /** The form on the page is the same as one that is drawn anew. */
  const expectCurrent = async (): Promise<void> => {
    const { unmount } = await drawLaunch(model, db, someActions(), editors);
    await settle();
    const [live, anew] = screen.getAllByRole('form').map(shownOf);
    act(unmount);
    expect(live).toEqual(anew);
  };

  const spec = (): JobSpec => model.form.spec;
  const resources = (): JobSpec['replica_specs'][number]['resources'] =>
    spec().replica_specs[0].resources;
  const mount = (claim: string): JobSpec['mounts'][number] => ({
    ...{ claim, mount_path: '/w', sub_path: null },
    ...{ read_only: true, volume: null }
  });
  /** Rounds of changes, each of other parts of the form: what one of them has left as it was is not mended by the next. */
  const rounds: Record<string, (() => unknown)[]> = {
    'what is wrong in fields': [
      () => model.setOption(OPTIONS[1], 'a'),
      () => model.setOption(OPTIONS[5], true),
      () => model.setMore('"a'),
      () => model.setName('A'),
      () =>
        model.setEnv([
          { name: 'A', value: '1', secret: null },
          { name: 'A', value: null, secret: { name: 's', key: '' } }
        ]),
      () =>
        model.setDraft('/replica_specs/0/resources/memory/limit', {
          text: '4 GB',
          problem: 'Write it in another way.'
        }),
      () => model.edit({ mounts: [mount('own'), mount('')] }, '/mounts/1'),
      () => model.setNamespace('A'),
      () => model.setKind('module')
    ],
    fields: [
      () => model.setOption(OPTIONS[1], null),
      () => model.setMore('"a b" c'),
      () => model.setName('other'),
      () => model.setEnv([{ name: 'B', value: '2', secret: null }]),
      () => model.setLabels([{ name: 'a', value: 'b' }]),
      () => model.setWorkingDir('/w/other'),
      () => model.setKind('script'),
      () => model.edit({ runtime: { ...spec().runtime, kernel: 'ir' } }, '/x'),
      () => model.editReplicas({ replicas: 3 }, '/replica_specs/0/x'),
      () =>
        model.editReplicas(
          { resources: { ...resources(), device: { name: GPU, count: 2 } } },
          '/x'
        ),
      () =>
        model.editReplicas(
          {
            resources: {
              ...resources(),
              memory: { request: null, limit: '4Gi' }
            }
          },
          '/replica_specs/0/resources/memory/limit'
        ),
      () => {
        const { torchrun } = spec();
        const changed = torchrun && {
          ...torchrun,
          proc_per_node: 'gpu' as const
        };
        model.edit({ torchrun: changed }, '/torchrun/proc_per_node');
      },
      () => model.edit({ elastic: { min: 1, max: 4, expected: null } }, '/x'),
      () =>
        model.edit(
          {
            scheduling: {
              ...spec().scheduling,
              ...{ queue: 'fast', priority: 3, priority_class: 'high' },
              tolerations: [{ key: 'a', operator: 'Exists' }]
            }
          },
          '/scheduling/queue'
        ),
      () =>
        model.edit(
          {
            runtime: {
              ...spec().runtime,
              ...{ image: 'i:1', pull_policy: 'Never', pull_secrets: ['s'] }
            }
          },
          '/runtime/image'
        ),
      () =>
        model.edit(
          { security: { uid: 1, gid: 2, fs_group: null, restricted: true } },
          '/x'
        ),
      () => model.edit({ mounts: [mount('own')] }, '/mounts/0'),
      () => {
        model.editReplicas({ restart_policy: 'OnFailure' }, '/x');
        const run_policy = {
          ...{ backoff_limit: 5, active_deadline_seconds: 60 },
          ...{ clean_up: 'All' as const, ttl_seconds: 60 },
          resume_evicted: false
        };
        model.edit({ run_policy, paused: true, keep_logs: false }, '/paused');
      },
      () =>
        model.edit(
          { tensorboard: { log_dirs: ['', '/w/b'], cluster: null } },
          '/x'
        ),
      () => model.setNamespace('team-b')
    ],
    'what is off': [
      () => model.edit({ torchrun: null, elastic: null }, '/x'),
      () => model.edit({ shm: null }, '/x'),
      () => model.setDeviceKind(GPU, somePool()),
      () => model.setNodeSelector([{ name: LABEL, value: 'x' }])
    ],
    'the server’s checks': [
      async () => {
        const check = (field: string, level: 'error' | 'warning') =>
          someCheck({ field, level, message: `${field} is wrong.` });
        const checks = [
          ...[check('/spec/name', 'error'), check('/spec/shm', 'warning')],
          ...[check('/spec/args/0', 'error'), check('/spec/x', 'warning')]
        ];
        server.previewChanges = { checks, summary: 'other' };
        await model.preview.refresh();
      }
    ],
    'a refusal': [
      async () => {
        const { answer } = server;
        server.answer = () =>
          json({ message: 'No.', field: '/spec/name', verbatim: 'v' }, 422);
        await model.dryRun();
        server.answer = answer;
      }
    ],
    'no answer': [
      async () => {
        const { answer } = server;
        server.answer = () => {
          throw new TypeError('refused');
        };
        await model.preview.refresh();
        server.answer = answer;
      }
    ],
    'a dry run': [
      async () => {
        server.previewChanges = {};
        await model.dryRun();
      }
    ],
    'the cluster': [
      () => {
        const engines = someEngines().map(info => ({
          ...info,
          available: info.name === model.state.engine ? info.available : false,
          reason: 'It is away.'
        }));
        server.socket.push(delta({ engines }));
      },
      () =>
        server.socket.push(
          delta({ capacity: someCapacity({ pools: [somePool({ nodes: 1 })] }) })
        )
    ],
    'a manifest': [() => model.editAsYaml()],
    'a manifest that is edited': [
      () => model.setManifest('kind: PyTorchTrainingJob\n')
    ],
    'the form again': [() => model.backToForm()],
    'the defaults': [() => model.startFrom('defaults')],
    'another file': [() => model.openFor('mnist/other.py')]
  };

  it.each<[EngineName, boolean]>([
    ['local', true],
    ['t9k', true],
    ['t9k', false]
  ])(
    'shows each change of the model (%s, groups open: %s)',
    async (engine, areGroupsOpen) => {
      await open(engine, areGroupsOpen);
      for (const changes of Object.values(rounds)) {
        for (const change of changes) {
          await act(async () => {
            await change();
          });
        }
        await expectCurrent();
      }
      for (const other of ['kubeflow', 't9k', 'local'] as const) {
        server.socket.push(delta({ engines: someEngines() }));
        await act(() => model.moveTo(other));
        await expectCurrent();
      }
    }
  );
});
