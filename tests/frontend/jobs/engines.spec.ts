import { nullTranslator } from '@jupyterlab/translation';
import { EngineInfo } from '../../../src/api/types';
import { capacitySections } from '../../../src/cluster/model/capacity';
import { whereText } from '../../../src/job/model/text';
import { factsOf, labelOf } from '../../../src/jobs/engines';
import { locationText, spreadOf } from '../../../src/jobs/jobLocation';
import { someEngines } from '../clusterFakes';
import { someJob } from '../fakes';

const trans = nullTranslator.load('');
const engines = someEngines();
const gone = someJob({ id: 'slurm::a:1', engine: 'slurm', namespace: '' });

/** An engine of another distribution whose jobs are processes of this machine. */
const processes: EngineInfo = {
  ...engines[0],
  name: 'processes',
  label: 'Processes',
  machine: null,
  facts: { ...factsOf(engines, 'local'), runs_in_kernel: false }
};

describe('an engine that is not installed any more', () => {
  it('has its name as label, and the facts of a minimal engine', () => {
    expect(labelOf(engines, 'slurm')).toBe('slurm');
    expect(factsOf(engines, 'slurm')).toMatchObject({
      shares_lab_filesystem: false,
      has_pods: false,
      manifest_kind: null
    });
  });

  it('is named where the list has jobs of several engines', () => {
    const jobs = [someJob(), gone];
    const spread = spreadOf(jobs);
    expect(spread).toEqual({ engines: true, namespaces: false });
    expect(jobs.map(job => locationText(job, spread, engines))).toEqual([
      '',
      'slurm'
    ]);
  });

  it('is where its jobs run, without a namespace that they do not have', () => {
    expect(whereText(gone, engines, trans)).toBe('slurm');
    expect(whereText({ ...gone, namespace: 'demo' }, engines, trans)).toBe(
      'slurm, namespace demo'
    );
  });

  it('brings no capacity into the sidebar of a machine without a cluster', () => {
    expect(capacitySections([engines[0]], [gone], null)).toEqual(['machine']);
  });
});

it('tells two engines on this machine apart by their labels', () => {
  const both = [...engines, processes];
  const job = someJob({ engine: 'processes' });
  expect(whereText(someJob(), engines, trans)).toBe('this machine');
  expect(whereText(someJob(), both, trans)).toBe('This machine');
  expect(whereText(job, both, trans)).toBe('Processes');
  const spread = spreadOf([someJob(), job]);
  expect(locationText(job, spread, both)).toBe('Processes');
});
