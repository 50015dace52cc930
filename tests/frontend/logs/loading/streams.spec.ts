import { gutterLabel } from '../../../../src/logs/loading/streams';
import { someStream } from '../../fakeLog';

describe('gutterLabel', () => {
  it('tells a master from the first worker', () => {
    const streams = ['master-0', 'worker-0', 'worker-11'].map(replica =>
      someStream(0, { replica, rank: null })
    );
    expect(streams.map(gutterLabel)).toEqual(['m0:0', '0:0', '11:0']);
  });
});
