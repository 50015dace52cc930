import { act, fireEvent, screen, within } from '@testing-library/react';
import { StateDB } from '@jupyterlab/statedb';
import { Queue } from '../../../src/api/types';
import { LaunchModel } from '../../../src/launch/model/launch';
import { ClusterServer, someCheck } from '../clusterFakes';
import { launchModel } from '../launchFakes';
import { drawLaunch, layOut } from '../launchView';

function someQueue(name: string, changes: Partial<Queue> = {}): Queue {
  return {
    name,
    kind: 'T9k queue',
    open: true,
    reason: null,
    default: false,
    priority: null,
    preemptible: null,
    max_duration: null,
    waiting: null,
    quota: [],
    borrows: false,
    ...changes
  };
}

const gpus = {
  quota: 'short',
  resource: 'nvidia.com/gpu',
  used: 6,
  hard: 8,
  scoped: false
};
const closed = someQueue('closed', {
  open: false,
  reason: 'It is closed: it takes no new jobs.'
});
const short = someQueue('short', {
  priority: 60,
  max_duration: 9900,
  waiting: 3,
  quota: [{ ...gpus, resource: 'cpu', hard: 40 }, gpus]
});
const usual = someQueue('default', { default: true });

describe('the queue of a launch form', () => {
  let server: ClusterServer;
  let model: LaunchModel;

  beforeAll(() => {
    layOut(1200);
    Range.prototype.getClientRects = () => [] as unknown as DOMRectList;
  });

  beforeEach(() => {
    server = new ClusterServer();
    server.queues = {
      queues: [usual, short, closed],
      applied: null,
      limited: null
    };
  });

  afterEach(() => model.dispose());

  const open = async (engine: 't9k' | 'kubeflow' = 't9k'): Promise<void> => {
    const db = new StateDB();
    model = launchModel(server, { db });
    await model.open();
    await model.moveTo(engine);
    await drawLaunch(model, db);
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: /^Where/ }));
    });
  };
  const field = (): HTMLInputElement =>
    screen.getByRole<HTMLInputElement>('combobox', { name: 'Queue' });
  const options = (): HTMLElement[] => {
    const list = document.getElementById(
      field().getAttribute('aria-controls') ?? ''
    );
    return within(list as HTMLElement).queryAllByRole('option');
  };
  const caption = (): string =>
    document.getElementById(`${field().id}-caption`)?.textContent ?? '';
  const asked = (): URL[] =>
    server.requests
      .map(({ url }) => new URL(url))
      .filter(({ pathname }) => pathname.endsWith('/cluster/queues'));

  it('offers the queues of the namespace, with what is free in each', async () => {
    await open();
    expect(asked().map(({ search }) => search)).toEqual([
      '?engine=t9k&namespace=demo'
    ]);
    fireEvent.keyDown(field(), { key: 'ArrowDown' });
    expect(options().map(({ textContent }) => textContent)).toEqual([
      'defaultdefault',
      'short2 of 8 GPUs free · priority 60 · at most 2 h 45 min · 3 jobs wait',
      'closedIt is closed: it takes no new jobs.'
    ]);
    fireEvent.click(options()[1]);
    expect(model.spec.scheduling.queue).toBe('short');
    expect(caption()).toBe(
      '2 of 8 GPUs free · priority 60 · at most 2 h 45 min · 3 jobs wait'
    );
    expect(screen.getByRole('button', { name: /^Where/ })).toBeTruthy();
  });

  it('does not take a closed queue from the list, and any name that is typed', async () => {
    await open();
    fireEvent.keyDown(field(), { key: 'ArrowDown' });
    const last = options()[2];
    expect(last.getAttribute('aria-disabled')).toBe('true');
    fireEvent.click(last);
    expect(model.spec.scheduling.queue).toBeNull();
    fireEvent.keyDown(field(), { key: 'ArrowUp' });
    fireEvent.keyDown(field(), { key: 'Enter' });
    expect(model.spec.scheduling.queue).toBeNull();
    fireEvent.change(field(), { target: { value: 'typed' } });
    expect(model.spec.scheduling.queue).toBe('typed');
    expect(caption()).toBe('');
  });

  it('says at the field what is wrong with a queue', async () => {
    await open();
    server.previewChanges = {
      checks: [
        someCheck({
          level: 'warning',
          code: 'NoSuchQueue',
          message: 'There is no queue typed in namespace demo.',
          hint: 'The job will wait until somebody makes it.',
          field: '/spec/scheduling/queue'
        })
      ]
    };
    await act(async () => {
      fireEvent.change(field(), { target: { value: 'typed' } });
      await model.preview.refresh();
    });
    const errors = document.getElementById(`${field().id}-errors`);
    expect(errors?.textContent).toContain(
      'There is no queue typed in namespace demo. The job will wait until somebody makes it.'
    );
  });

  it('asks again for another namespace', async () => {
    await open();
    server.queues = {
      queues: [someQueue('theirs')],
      applied: null,
      limited: null
    };
    await act(async () => model.setNamespace('team-b'));
    expect(asked().at(-1)?.searchParams.get('namespace')).toBe('team-b');
    fireEvent.keyDown(field(), { key: 'ArrowDown' });
    expect(options()).toHaveLength(1);
  });

  it('asks again when the field gets the focus; what is known stays meanwhile', async () => {
    await open();
    const before = asked().length;
    server.queues = {
      queues: [usual, someQueue('new')],
      applied: null,
      limited: null
    };
    act(() => field().focus());
    fireEvent.keyDown(field(), { key: 'ArrowDown' });
    expect(options()).toHaveLength(3);
    await act(async () => {
      await new Promise(requestAnimationFrame);
    });
    expect(asked()).toHaveLength(before + 1);
    expect(options().map(({ firstChild }) => firstChild?.textContent)).toEqual([
      'default',
      'new'
    ]);
    // A list that can't be read again is better than none.
    server.queues = null;
    await act(async () => model.loadQueues());
    expect(options()).toHaveLength(2);
    expect(caption()).toBe('The cluster does not answer.');
  });

  it('says why queues can’t be listed; their names can be typed', async () => {
    server.queues = {
      queues: [],
      applied: null,
      limited: 'This account may not list them.'
    };
    await open();
    expect(caption()).toBe('This account may not list them.');
    server.queues = null;
    await act(async () => model.setNamespace('team-b'));
    expect(caption()).toBe('The cluster does not answer.');
    fireEvent.change(field(), { target: { value: 'typed' } });
    expect(model.spec.scheduling.queue).toBe('typed');
  });

  it('names the queue that Kueue gives to a job which names none', async () => {
    server.queues = { queues: [usual], applied: 'default', limited: null };
    await open('kubeflow');
    expect(field().placeholder).toBe('default');
  });

  it('names none where jobs go to the cluster’s own scheduler', async () => {
    await open();
    expect(field().placeholder).toBe('none');
  });
});
