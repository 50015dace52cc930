/** Texts about stacks. */
import { nullTranslator } from '@jupyterlab/translation';
import { StackGroup } from '../../../../src/api/types';
import { membersText } from '../../../../src/job/stacks/text';

const trans = nullTranslator.load('');

function group(...ranks: [string, number | null][]): StackGroup {
  const members = ranks.map(([replica, rank]) => ({ replica, rank, pid: 7 }));
  return { members } as unknown as StackGroup;
}

describe('membersText', () => {
  it('says once that the numbers are ranks', () => {
    const ranks: [string, number][] = [
      ['worker-0', 0],
      ['worker-0', 1],
      ['worker-1', 2],
      ['worker-1', 3]
    ];
    expect(membersText(group(...ranks), trans)).toBe(
      'Ranks 0, 1 on worker-0; 2, 3 on worker-1'
    );
    expect(membersText(group(ranks[0], ranks[2]), trans)).toBe(
      'Ranks 0 on worker-0; 2 on worker-1'
    );
  });

  it('counts processes without a rank, and names a single one', () => {
    expect(
      membersText(group(['worker-0', null], ['worker-0', null]), trans)
    ).toBe('2 processes on worker-0');
    expect(membersText(group(['worker-0', 0]), trans)).toBe('worker-0, pid 7');
  });
});
