import { nullTranslator } from '@jupyterlab/translation';
import { Job } from '../../../../src/api/types';
import { nextSteps, ownFrame } from '../../../../src/job/model/nextStep';
import { failedJob, someFailure } from '../../fakeJob';

const trans = nullTranslator.load('jupyterlab_t9kjob');

function kinds(job: Job): string[] {
  return nextSteps(job, trans).map(({ kind }) => kind);
}

describe('nextSteps', () => {
  const [own, library] = someFailure().frames;

  it('begins with the user’s own code, then runs it again', () => {
    expect(kinds(failedJob())).toEqual(['file', 'rerun', 'log']);
    expect(kinds(failedJob({ actions: [] }))).toEqual(['file', 'log']);
  });

  it('offers the form where the error names no file, as for wrong arguments', () => {
    const failure = someFailure({ frames: [library] });
    expect(kinds(failedJob({ failure }))).toEqual(['clone', 'log']);
  });

  it('offers the log where the cause is not known', () => {
    const failure = someFailure({ frames: [], error: null });
    expect(kinds(failedJob({ failure }))).toEqual(['log', 'clone']);
  });

  it('runs again what the platform has ended', () => {
    const job = failedJob({ failure: null, ended_by: 'platform' });
    expect(kinds(job)).toEqual(['rerun', 'clone']);
    const late = failedJob({ failure: null, ended_by: 'deadline' });
    expect(kinds(late)).toEqual(['clone']);
  });

  it('names the cell of a notebook', () => {
    const frame = { ...own, file: 'n.ipynb, cell 2', path: 'w/n.ipynb' };
    const failure = someFailure({ frames: [{ ...frame, line: 3 }, library] });
    expect(ownFrame({ failure }, trans)).toEqual({
      path: 'w/n.ipynb',
      line: 3,
      cell: 2,
      label: 'n.ipynb, cell 2, line 3'
    });
  });
});
