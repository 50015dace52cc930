/** The dialog that chooses jobs to compare. */
import { nullTranslator } from '@jupyterlab/translation';
import { fireEvent, waitFor, within } from '@testing-library/react';
import { askJobs } from '../../../src/alljobs/compare/ask';
import { JobSummary } from '../../../src/api/types';
import { someJob } from '../fakes';

const trans = nullTranslator.load('');
const jobs: JobSummary[] = [
  someJob({ id: 'known', name: 'known' }),
  someJob({ id: 'one', name: 'job-1', display_name: '训练 脚本' }),
  someJob({ id: 'two', name: 'job-2', phase: 'Failed' }),
  someJob({ id: 'elsewhere', name: 'job-2' })
];

async function open(): Promise<{
  dialog: HTMLElement;
  boxes: HTMLInputElement[];
  answer: Promise<string[] | null>;
}> {
  const answer = askJobs({ jobs }, ['known'], trans);
  const boxes = await waitFor(() => {
    const found = [
      ...document.querySelectorAll<HTMLInputElement>('.jp-Dialog input')
    ];
    expect(found).toHaveLength(3);
    return found;
  });
  const dialog = document.querySelector<HTMLElement>('.jp-Dialog');
  if (dialog === null) {
    throw new Error('no dialog');
  }
  return { dialog, boxes, answer };
}

it('offers the other jobs as boxes with their display names, and says that several can be chosen', async () => {
  const { dialog, boxes, answer } = await open();
  expect(dialog.getAttribute('aria-label')).toBe('Add jobs to the comparison');
  expect(dialog.querySelector('fieldset > legend')?.textContent).toBe(
    'Select one or more jobs.'
  );
  expect(boxes.map(box => box.closest('label')?.textContent)).toEqual([
    expect.stringContaining('训练 脚本 job-1'),
    expect.stringContaining('job-2'),
    expect.stringContaining('job-2')
  ]);
  fireEvent.click(boxes[0]);
  fireEvent.click(boxes[2]);
  fireEvent.click(within(dialog).getByText('Compare'));
  // Two jobs of the same name are different jobs.
  expect(await answer).toEqual(['one', 'elsewhere']);
});

it('is one tab stop, in which arrow keys move', async () => {
  const { dialog, boxes, answer } = await open();
  const stops = (): number[] => boxes.map(({ tabIndex }) => tabIndex);
  await waitFor(() => expect(document.activeElement).toBe(boxes[0]));
  expect(stops()).toEqual([0, -1, -1]);
  fireEvent.keyDown(boxes[0], { key: 'ArrowDown' });
  expect(document.activeElement).toBe(boxes[1]);
  await waitFor(() => expect(stops()).toEqual([-1, 0, -1]));
  fireEvent.keyDown(boxes[1], { key: 'End' });
  expect(document.activeElement).toBe(boxes[2]);
  fireEvent.keyDown(boxes[2], { key: 'ArrowDown' });
  expect(document.activeElement).toBe(boxes[2]);
  fireEvent.keyDown(boxes[2], { key: 'Home' });
  expect(document.activeElement).toBe(boxes[0]);
  fireEvent.click(within(dialog).getByText('Cancel'));
  expect(await answer).toBeNull();
});
