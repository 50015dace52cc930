import { nullTranslator } from '@jupyterlab/translation';
import { render, screen } from '@testing-library/react';
import * as React from 'react';
import { Job } from '../../../../src/api/types';
import { PhaseNews } from '../../../../src/job/view/PhaseNews';
import { failedJob, fullJob } from '../../fakeJob';

const trans = nullTranslator.load('jupyterlab_t9kjob');

describe('PhaseNews', () => {
  const told = (): (string | null)[] =>
    ['status', 'alert'].map(role => screen.getByRole(role).textContent);
  const news = (job: Job): React.JSX.Element => (
    <PhaseNews job={job} trans={trans} />
  );

  it('tells a new state politely, and a failure at once', () => {
    const { rerender } = render(news(fullJob({ phase: 'Pending' })));
    expect(told()).toEqual(['', '']);
    rerender(news(fullJob()));
    expect(told()).toEqual([
      expect.stringMatching(/^mnist-ddp-1, running, /),
      ''
    ]);
    const job = failedJob();
    rerender(news(job));
    expect(told()).toEqual([
      '',
      expect.stringContaining(`failed, ${job.reason?.sentence}`)
    ]);
  });

  it('is silent while only the progress changes', () => {
    const { rerender } = render(news(fullJob({ phase: 'Pending' })));
    rerender(news(fullJob()));
    const before = told();
    rerender(news(fullJob({ replicas: 4, replicas_running: 3 })));
    expect(told()).toEqual(before);
  });
});
