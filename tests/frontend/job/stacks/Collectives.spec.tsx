/** The collectives beside the stacks: those of PyTorch's flight recorder, and those that NCCL has counted. */
import { nullTranslator } from '@jupyterlab/translation';
import { render, screen } from '@testing-library/react';
import * as React from 'react';
import { Collective } from '../../../../src/api/types';
import { Collectives } from '../../../../src/job/stacks/Collectives';

const trans = nullTranslator.load('');

/** Render a collective in which rank 1 is missing; return the texts of its heading and of its rows. */
function show(changes: Partial<Collective>): (string | null)[] {
  const call = { ranks: [0], name: 'AllReduce', backend: 'nccl', dtype: '' };
  const collective: Collective = {
    source: 'ras',
    group: '',
    own_ranks: false,
    sequence: 9,
    calls: [{ ...call, inputs: [], outputs: [] }],
    missing: [1],
    silent: [2],
    finding: 'rank 1 has not joined',
    ...changes
  };
  render(<Collectives collectives={[collective]} trans={trans} />);
  const region = screen.getByRole('region', { name: 'Rank 1 has not joined' });
  const texts = [region.querySelector('p'), ...screen.getAllByRole('row')];
  return texts.map(each => each?.textContent ?? null);
}

describe('Collectives', () => {
  it('says that NCCL has counted the calls', () => {
    expect(show({})).toEqual([
      'Communicator of all ranks, from NCCL',
      'RanksCallSizes in → outType',
      '0nccl:AllReduce',
      '1not joined',
      '2no answer'
    ]);
  });

  it('says that the ranks are numbered as in the communicator', () => {
    const [group] = show({ group: '27a0', own_ranks: true });
    expect(group).toBe(
      'Communicator 27a0 of NCCL, ranks as the communicator numbers them'
    );
  });

  it('shows the sizes that the flight recorder has', () => {
    const calls = [
      {
        ranks: [0],
        name: 'all_reduce',
        backend: 'gloo',
        inputs: [[4]],
        outputs: [[4]],
        dtype: 'Float'
      }
    ];
    const [group, , call, , silent] = show({ source: 'recorder', calls });
    expect(group).toBe('Default process group');
    expect(call).toBe('0gloo:all_reduce[4] → [4]Float');
    expect(silent).toBe('2no record was read');
  });
});
