import { readRunTable } from '../../../src/experiments/runTable';
import { RunRow } from '../../../src/api/types';

/** Return the text of an answer as the server writes it. */
function answerOf(runs: Partial<RunRow>[]): string {
  const lines = runs.map(run => JSON.stringify(run)).join(',\n');
  return `{"revision":7,"runs":[\n${lines}\n],"removed":["x"],"columns":[]}`;
}

describe('the table of runs', () => {
  it.each([0, 1, 10_000])('is read with %p runs', async count => {
    const runs = Array.from({ length: count }, (_, index) => ({
      id: String(index),
      name: 'two\nlines, "]"',
      note: index === 5000 ? 'x'.repeat(400_000) : ''
    }));
    const table = await readRunTable(answerOf(runs));
    expect(table.runs).toEqual(runs);
    expect([table.revision, table.removed]).toEqual([7, ['x']]);
  });

  it('rejects a page in place of an answer', async () => {
    const page = `<html>\n${'<br>\n'.repeat(100_000)}</html>`;
    await expect(readRunTable(page)).rejects.toThrow(SyntaxError);
  });
});
