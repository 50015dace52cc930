/** What differs between a job and its original. */
import { nullTranslator } from '@jupyterlab/translation';
import { changesOf } from '../../../src/job/changes/model';
import { fullJob } from '../fakeJob';

const trans = nullTranslator.load('jupyterlab_t9kjob');

describe('changesOf', () => {
  it('lists arguments, fields and variables with other values only', () => {
    const job = fullJob();
    const was = {
      ...job,
      name: 'train-1',
      spec: {
        ...job.spec,
        name: 'train-1',
        args: ['--lr', '0.1', '--log_dir', 'runs/train-1', '--bf16'],
        env: [{ name: 'MODE', value: 'fast', secret: null }],
        working_dir: '/work/a'
      }
    };
    const now = {
      ...was,
      name: 'train-2',
      spec: {
        ...was.spec,
        name: 'train-2',
        args: ['--lr=0.2', '--log_dir', 'runs/train-2'],
        env: [{ name: 'MODE', value: 'slow', secret: null }],
        working_dir: '/work/b'
      }
    };
    expect(changesOf(was, was, trans)).toEqual([]);
    expect(changesOf(was, now, trans)).toEqual([
      { name: '--lr', isCode: true, before: '0.1', now: '0.2' },
      { name: '--bf16', isCode: true, before: 'yes', now: null },
      {
        name: 'Working directory',
        isCode: false,
        before: '/work/a',
        now: '/work/b'
      },
      { name: 'Variable MODE', isCode: false, before: 'fast', now: 'slow' }
    ]);
  });

  it('leaves the kernel out where one of the jobs does not say which one ran it', () => {
    const job = fullJob();
    const inKernel = (kernel: string | null) => ({
      ...job,
      spec: { ...job.spec, runtime: { ...job.spec.runtime, kernel } }
    });
    const change = (before: string | null, now: string | null) => ({
      ...{ name: 'Kernel', isCode: false, before, now }
    });
    const changes = (before: string | null, now: string | null) =>
      changesOf(inKernel(before), inKernel(now), trans);
    expect(changes(null, 'python3')).toEqual([]);
    expect(changes('python3', null)).toEqual([]);
    expect(changes('python3', 'other')).toEqual([change('python3', 'other')]);
    expect(
      changesOf(
        { ...inKernel('python3'), engine: 'local' },
        { ...inKernel(null), engine: 'kubeflow' },
        trans
      ).slice(1)
    ).toEqual([change('python3', null)]);
  });
});
