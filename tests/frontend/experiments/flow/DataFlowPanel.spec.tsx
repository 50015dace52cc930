import { nullTranslator } from '@jupyterlab/translation';
import { act, fireEvent, render, screen } from '@testing-library/react';
import * as React from 'react';
import { ApiError } from '../../../../src/api/errors';
import { Flow } from '../../../../src/api/types';
import { ExperimentsClient } from '../../../../src/experiments/client';
import { DataFlowPanel } from '../../../../src/experiments/flow/DataFlowPanel';
import { flowOf } from './flowFakes';

const trans = nullTranslator.load('');

describe('the data flow', () => {
  const open = jest.fn();
  let answer: () => Promise<Flow>;

  /** Show the data flow of the run “train”. */
  async function show(): Promise<void> {
    const api = {
      flow: () => answer(),
      artifact: () => Promise.reject(new Error('not asked for'))
    } as unknown as ExperimentsClient;
    await act(async () => {
      render(
        <DataFlowPanel id="run:train" api={api} open={open} trans={trans} />
      );
    });
  }

  const box = (name: RegExp): HTMLElement =>
    screen.getByRole('button', { name });
  const press = (key: string): void => {
    fireEvent.keyDown(document.activeElement ?? document.body, { key });
  };

  beforeEach(() => {
    open.mockReset();
    jest.spyOn(console, 'warn').mockImplementation();
    answer = () =>
      Promise.resolve(
        flowOf('data run:train', 'run:train model', 'model run:test')
      );
  });

  it('is one tab stop; arrows follow the lines, Enter opens, Space shows', async () => {
    await show();
    screen.getByText('2 runs, 2 artifacts');
    const home = box(/^Run train, Complete; arrows in: 1, out: 1/);
    expect(document.querySelectorAll('.jp-t9k-Flow [tabindex="0"]')).toContain(
      home
    );
    home.focus();
    press('ArrowRight');
    expect(document.activeElement).toBe(box(/^Artifact model/));
    press('ArrowRight');
    press('Enter');
    expect(open).toHaveBeenLastCalledWith('run', 'run:test');
    press('ArrowLeft');
    press(' ');
    expect(box(/^Artifact model/).getAttribute('aria-pressed')).toBe('true');
    fireEvent.click(screen.getByRole('button', { name: 'Open' }));
    expect(open).toHaveBeenLastCalledWith('artifact', 'model');
    fireEvent.click(screen.getByRole('button', { name: 'Close' }));
    expect(screen.queryByRole('complementary')).toBeNull();
  });

  it('emphasizes what the node comes from and leads to', async () => {
    answer = () =>
      Promise.resolve(
        flowOf('data run:train', 'data run:other', 'run:train m')
      );
    await show();
    const related = document.querySelectorAll(
      '.jp-t9k-Flow-line[data-related="true"]'
    );
    expect(related).toHaveLength(2);
    expect(box(/^Run other/).dataset.related).toBe('false');
  });

  it('shows a table, fewer steps, and what a search finds', async () => {
    await show();
    fireEvent.click(screen.getByRole('radio', { name: '1' }));
    expect(screen.queryByRole('button', { name: /^Run test/ })).toBeNull();
    fireEvent.click(screen.getByRole('radio', { name: 'All' }));
    fireEvent.click(screen.getByRole('radio', { name: 'Table' }));
    expect(screen.getAllByRole('row')).toHaveLength(3);
    const search = screen.getByRole('searchbox');
    fireEvent.change(search, { target: { value: 'TEST' } });
    expect(screen.getAllByRole('row')).toHaveLength(2);
    fireEvent.keyDown(search, { key: 'Enter' });
    screen.getByRole('heading', { name: 'test' });
  });

  it('draws a cycle, a missing artifact and hostile names', async () => {
    const flow = flowOf('<img> run:train', 'run:train <img>!');
    flow.nodes[0].found = false;
    answer = () => Promise.resolve(flow);
    await show();
    screen.getByText('cycle');
    expect(box(/^Artifact <img>, not found/).dataset.found).toBe('false');
    expect(document.querySelector('img')).toBeNull();
    fireEvent.doubleClick(box(/^Artifact <img>/));
    expect(open).not.toHaveBeenCalled();
  });

  it('starts large graphs with one step, and shows the largest as a table', async () => {
    const many = (count: number): string[] =>
      Array.from({ length: count }, (_, at) => `run:train a${at}`);
    answer = () => Promise.resolve(flowOf(...many(300), 'a1 run:b', 'run:b c'));
    await show();
    screen.getByText('1 run, 300 artifacts');
    fireEvent.click(screen.getByRole('radio', { name: 'All' }));
    screen.getByText('2 runs, 301 artifacts');
  });

  it('is empty without artifacts, and can be read again after an error', async () => {
    answer = () => Promise.reject(new ApiError(503, { message: 'Not now.' }));
    await show();
    screen.getByText('Not now.');
    answer = () => Promise.resolve({ ...flowOf('run:train a'), edges: [] });
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
    });
    screen.getByText('No data flow');
  });
});
