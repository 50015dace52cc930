import { nullTranslator } from '@jupyterlab/translation';
import { JobSummary, Progress, Reason } from '../../../src/api/types';
import { serverNow } from '../../../src/common/clock';
import {
  endSentence,
  jobLabel,
  jobSentence,
  jobTitle
} from '../../../src/jobs/sentence';
import { someJob } from '../fakes';

const trans = nullTranslator.load('');
const reason: Reason = {
  code: 'X',
  sentence: 'Needs 2 GPUs; 1 is free',
  hint: null,
  fix: null,
  verbatim: null,
  links: []
};
const progress = (changes: Partial<Progress> = {}): Progress => ({
  text: 'Epoch 4 of 10, batch 3 of 9',
  fraction: 0.4,
  rate: null,
  eta_seconds: null,
  metrics: {},
  updated_at: serverNow(),
  ...changes
});

/** A job that ran so long, in seconds, and was paused overnight. */
const ended = (ran_seconds: number): Partial<JobSummary> => ({
  started_at: 1000,
  ended_at: 40000,
  ran_seconds,
  running_since: null
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
    [{ processes: 1 }, '1 process is running'],
    [{ processes: 2 }, '2 processes are running'],
    [{ replicas: 4, replicas_running: 4 }, 'All 4 replicas are running'],
    [{ replicas: 4, replicas_running: 3 }, '3 of 4 replicas are running'],
    [{ progress: progress() }, 'Epoch 4 of 10'],
    [
      { progress: progress({ eta_seconds: 9980 }) },
      'Epoch 4 of 10 · 2 h 45 min left'
    ],
    [
      { phase: 'Resuming', replicas: 4, replicas_running: 3, reason },
      '3 of 4 replicas are back'
    ],
    [
      { phase: 'Resuming', replicas: 4, replicas_running: 0, reason },
      'Needs 2 GPUs; 1 is free'
    ],
    [
      {
        phase: 'Succeeded',
        ...ended(252),
        progress: progress({ metrics: { loss: 0.3, accuracy: 0.99123 } })
      },
      'Ran 4 min 12 s · accuracy 0.991'
    ],
    [{ phase: 'Failed', ended_by: 'itself', reason }, reason.sentence],
    [
      { phase: 'Failed', ended_by: 'user', ...ended(2280) },
      'Stopped by you after 38 min'
    ],
    [
      { phase: 'Failed', ended_by: 'user', started_at: null, ended_at: 3280 },
      'Stopped by you before it started'
    ],
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
    const metrics = { [name]: 0.9527 };
    const job = someJob({
      phase: 'Succeeded',
      ...ended(252),
      progress: progress({ metrics })
    });
    expect(jobSentence(job, trans, true)).toBe(sentence);
    expect(jobSentence(job, trans)).toBe(`Ran 4 min 12 s · ${name} 0.953`);
  });

  it('lets the estimate run down between two reports', () => {
    const job = someJob({
      progress: progress({ eta_seconds: 60, updated_at: serverNow() - 30 })
    });
    expect(jobSentence(job, trans)).toBe('Epoch 4 of 10 · 30 s left');
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
    { phase: 'Succeeded', ...ended(440) },
    'mnist-ddp-1 succeeded after 7 min 20 s'
  ],
  [
    { phase: 'Failed', ended_by: 'itself', reason },
    'mnist-ddp-1: Needs 2 GPUs; 1 is free'
  ]
])('tells the end of %j', (changes, sentence) => {
  expect(endSentence(someJob(changes), trans)).toBe(sentence);
});
