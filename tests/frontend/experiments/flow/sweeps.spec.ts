import { nullTranslator } from '@jupyterlab/translation';
import { Flow } from '../../../../src/api/types';
import { fold } from '../../../../src/experiments/flow/sweeps';
import { flowOf } from './flowFakes';

const trans = nullTranslator.load('');

/** Return a graph in which the runs whose names begin with “s” are of one sweep. */
function sweepOf(...edges: string[]): Flow {
  const flow = flowOf(...edges);
  for (const node of flow.nodes) {
    if (node.id.startsWith('run:s')) {
      node.sweep = { id: 'lr', name: 'grid' };
    } else if (node.id.startsWith('best')) {
      node.name = 'best';
    }
  }
  return flow;
}

const arrows = ({ edges }: Flow): string[] =>
  edges.map(({ source, target }) => `${source} ${target}`);

describe('runs of a sweep', () => {
  it('are one node, and so are the artifacts that only they make', () => {
    const flow = sweepOf(
      ...['data run:s1', 'run:s1 best1', 'data run:s2', 'run:s2 best2'],
      ...['data run:s3', 'run:s3 best3', 'best3 run:test']
    );
    const { flow: folded, members } = fold(flow, 'run:test', trans);
    expect(folded.nodes.map(({ name, detail }) => [name, detail])).toEqual([
      ['data', null],
      ['grid', '3 runs'],
      ['best', '2 artifacts'],
      ['best', null],
      ['test', 'Complete']
    ]);
    expect(arrows(folded)).toEqual([
      'data sweep:lr',
      'sweep:lr artifacts:from sweep:lr best',
      'sweep:lr best3',
      'best3 run:test'
    ]);
    expect(members.get('sweep:lr')).toHaveLength(3);
  });

  it('stay apart from the run of the page, and if they use each other’s artifacts', () => {
    const own = sweepOf('data run:s1', 'data run:s2');
    expect(fold(own, 'run:s1', trans).flow).toBe(own);
    const chain = sweepOf('run:s1 best1', 'best1 run:s2', 'run:s2 best2');
    expect(fold(chain, 'best2', trans).flow).toBe(chain);
  });

  it('are told apart if folding would form a cycle', () => {
    const flow = sweepOf('run:s1 a', 'a run:t1', 'run:t2 b', 'b run:s2');
    flow.nodes
      .filter(({ id }) => id.startsWith('run:t'))
      .forEach(node => (node.sweep = { id: 'other', name: 'other' }));
    expect(fold(flow, 'none', trans).flow).toBe(flow);
  });
});
