import { nullTranslator } from '@jupyterlab/translation';
import { JobSummary, Progress } from '../../../src/api/types';
import { serverNow } from '../../../src/common/clock';
import {
  endSentence,
  jobLabel,
  jobSentence,
  jobTitle
} from '../../../src/jobs/sentence';
import { someJob, someReason } from '../fakes';

const trans = nullTranslator.load('');
const said = someReason;
const reason = said('Needs 2 GPUs; 1 is free');
const progress = (changes: Partial<Progress> = {}): Progress => ({
  text: 'Epoch 4 of 10, batch 3 of 9',
  fraction: 0.4,
  rate: null,
  eta_seconds: null,
  metrics: {},
  updated_at: serverNow(),
  ...changes
});

describe('the most useful sentence', () => {
  it.each<[Partial<JobSummary>, string]>([
    [
      { pending_action: 'stopping', progress: progress() },
      'Stopping: its processes are ending'
    ],
    [{ pending_action: 'deleting', replicas_running: 0 }, 'Deleting…'],
    [{ phase: 'Pending', reason }, 'Needs 2 GPUs; 1 is free'],
    [{ phase: 'Pending' }, 'Pending'],
    [{ reason: said('2 processes are running') }, '2 processes are running'],
    [{}, 'Running'],
    [{ reason, progress: progress() }, 'Epoch 4 of 10'],
    [
      {
        progress: progress(),
        stalled: { kind: 'progress', since: serverNow() - 725, finding: null }
      },
      'No progress for 12 min'
    ],
    [
      {
        stalled: {
          kind: 'output',
          since: serverNow() - 3600,
          finding: '7 ranks wait in all_reduce'
        }
      },
      'No output for 1 h 00 min: 7 ranks wait in all_reduce'
    ],
    [
      { progress: progress({ eta_seconds: 9980 }) },
      'Epoch 4 of 10 · 2 h 45 min left'
    ],
    [{ phase: 'Resuming', reason }, reason.sentence],
    [{ phase: 'Succeeded', reason: said('Ran 4 min') }, 'Ran 4 min'],
    [{ phase: 'Failed', ended_by: 'itself', reason }, reason.sentence],
    [{ phase: 'Failed', state: 'Stopped' }, 'Stopped'],
    [{ phase: 'Unknown' }, 'Unknown']
  ])('of %j is “%s”', (changes, sentence) => {
    expect(jobSentence(someJob(changes), trans)).toBe(sentence);
  });

  it.each([
    ['test accuracy', 'Ran 4 min 12 s · accuracy 0.953'],
    ['eval/val_loss', 'Ran 4 min 12 s · loss 0.953'],
    ['top 1', 'Ran 4 min 12 s · top 1 0.953'],
    ['f1', 'Ran 4 min 12 s · f1 0.953']
  ])('has room for the value of %s where it is short', (name, sentence) => {
    const long = `Ran 4 min 12 s · ${name} 0.953`;
    const job = someJob({ phase: 'Succeeded', reason: said(long) });
    expect(jobSentence(job, trans, true)).toBe(sentence);
    expect(jobSentence(job, trans)).toBe(long);
  });

  it('lets the estimate run down between two reports', () => {
    const job = someJob({
      progress: progress({ eta_seconds: 60, updated_at: serverNow() - 30 })
    });
    expect(jobSentence(job, trans)).toBe('Epoch 4 of 10 · 30 s left');
    const late = someJob({
      progress: progress({ eta_seconds: 60, updated_at: serverNow() - 90 })
    });
    expect(jobSentence(late, trans)).toBe('Epoch 4 of 10');
  });
});

it.each([
  [null, 'mnist-ddp-1'],
  ['mnist-ddp-1', 'mnist-ddp-1'],
  ['训练', '训练 (mnist-ddp-1)']
])('tells runs with the display name %j apart', (display_name, title) => {
  expect(jobTitle(someJob({ display_name }))).toBe(title);
});

it('says the same to a screen reader, with the name and the state', () => {
  const job = someJob({ progress: progress({ eta_seconds: 1200 }) });
  expect(jobLabel(job, trans)).toBe(
    'mnist-ddp-1, running, Epoch 4 of 10, 20 min left'
  );
});

it.each<[Partial<JobSummary>, string]>([
  [
    { phase: 'Succeeded', reason: said('Ran 7 min 20 s') },
    'mnist-ddp-1 succeeded: Ran 7 min 20 s'
  ],
  [
    { phase: 'Failed', ended_by: 'itself', reason },
    'mnist-ddp-1: Needs 2 GPUs; 1 is free'
  ]
])('tells the end of %j', (changes, sentence) => {
  expect(endSentence(someJob(changes), trans)).toBe(sentence);
});
