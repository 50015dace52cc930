import { nullTranslator } from '@jupyterlab/translation';
import { act, fireEvent, render, screen } from '@testing-library/react';
import * as React from 'react';
import { ApiError } from '../../../../src/api/errors';
import { ArtifactDetail, ArtifactFile } from '../../../../src/api/types';
import { ArtifactView } from '../../../../src/experiments/artifact/ArtifactView';
import { fileRows } from '../../../../src/experiments/artifact/fileRows';
import { ArtifactModel } from '../../../../src/experiments/artifact/model';
import { ExperimentsClient } from '../../../../src/experiments/client';
import { nodeOf } from '../flow/flowFakes';

const trans = nullTranslator.load('');
const HOSTILE = '<img src=x onerror=alert(1)>';

function file(path: string, changes: Partial<ArtifactFile> = {}): ArtifactFile {
  const facts = { size: 100, modified_at: 1, link: false, readable: true };
  return { path, kind: 'text', ...facts, ...changes };
}

function detailOf(files: ArtifactFile[]): ArtifactDetail {
  return {
    ...{ id: 'a1', name: 'report', suffix: 'abc123', labels: [HOSTILE] },
    ...{ description: HOSTILE, created_at: 1, path: 'work/report' },
    ...{ place: null, archived: false },
    ...{ problem: null, files, file_count: files.length, size: 200 },
    more_files: false,
    references: [{ path: 'p.parquet', uri: 'javascript:alert(1)' }],
    ...{ made_by: [nodeOf('run:train')], comes_from: [], used_by: [] }
  };
}

const PREVIEW = {
  ...{ size: 100, truncated: false, text: null, has_text: false },
  ...{ columns: [], rows: [] },
  ...{ tensors: [], tensor_count: 0, parameter_count: 0, facts: {} },
  problem: null
};

describe('the page of an artifact', () => {
  const open = jest.fn();
  let model: ArtifactModel;

  afterEach(() => model.dispose());
  const client = {
    artifact: jest.fn(),
    preview: jest.fn(),
    checksum: jest.fn(),
    archiveUrl: (id: string) => `/archive/${id}`,
    fileUrl: (id: string, path: string) => `/file/${id}/${path}`
  };

  async function show(
    files: ArtifactFile[],
    changes: Partial<ArtifactDetail> = {}
  ): Promise<void> {
    client.artifact.mockResolvedValue({ ...detailOf(files), ...changes });
    model = new ArtifactModel(client as unknown as ExperimentsClient, 'a1');
    const lab = {
      open,
      openFolder: jest.fn(),
      copy: jest.fn(),
      remove: jest.fn(),
      renderMarkdown: null
    };
    await act(async () => {
      render(<ArtifactView model={model} lab={lab} trans={trans} />);
    });
  }

  beforeEach(() => {
    client.preview.mockReset();
    client.preview.mockImplementation(async (_id, path) => ({
      ...{ ...PREVIEW, kind: 'text', text: `text of ${path}` }
    }));
  });

  it('shows small files, or the selected one', async () => {
    await show([
      file('a.txt'),
      file('big.txt', { size: 10 ** 9 }),
      file('model.pt', { kind: 'none' }),
      file('out.txt', { readable: false, kind: 'none' })
    ]);
    screen.getByText('text of a.txt');
    expect(client.preview).toHaveBeenCalledTimes(1);
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'big.txt' }));
    });
    screen.getByText('text of big.txt');
    expect(screen.queryByText('text of a.txt')).toBeNull();
    const out = screen.getByRole('button', { name: 'out.txt' });
    expect(out).toHaveProperty('disabled', true);
    const link = screen.getByRole('link', { name: 'Download big.txt' });
    expect(link.getAttribute('href')).toBe('/file/a1/big.txt');
    screen.getByRole('link', { name: 'Download as ZIP' });
  });

  it('does not offer a ZIP file of more files than were counted', async () => {
    await show([file('a.txt')], { more_files: true, file_count: 100_000 });
    screen.getByText(/^more than 100.000 files · more than 200 B/);
    expect(screen.queryByText('Download as ZIP')).toBeNull();
  });

  it('opens the run that made it, and computes checksums', async () => {
    client.checksum.mockResolvedValue({ md5: 'm'.repeat(32), sha256: 'sha' });
    await show([file('a.txt')]);
    fireEvent.click(screen.getByRole('button', { name: 'train' }));
    expect(open).toHaveBeenCalledWith('run', 'run:train');
    await act(async () => {
      fireEvent.click(
        screen.getByRole('button', { name: 'Compute checksums of a.txt' })
      );
    });
    screen.getByText('m'.repeat(32));
  });

  it('shows tables, tensors and images, and executes nothing', async () => {
    const kinds = ['table', 'tensors', 'image', 'none'] as const;
    client.preview.mockImplementation(async (_id, path) => ({
      ...PREVIEW,
      kind: path,
      columns: [HOSTILE, 'n'],
      rows: [[HOSTILE, 0.5]],
      tensors: [{ name: HOSTILE, dtype: 'F32', shape: [3, 4], size: 48 }],
      ...{ tensor_count: 1, parameter_count: 12 },
      problem: path === 'none' ? 'The file is not text.' : null
    }));
    await show(kinds.map(kind => file(kind, { kind, size: 1 })));
    screen.getByText('3 × 4');
    screen.getByText('1 tensor, 12 elements');
    expect(screen.getAllByText(HOSTILE).length).toBeGreaterThan(3);
    const images = [...document.querySelectorAll('img')];
    expect(images.map(({ alt }) => alt)).toEqual(['image']);
    expect(document.querySelector('a[href^="javascript"]')).toBeNull();
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'none' }));
    });
    screen.getByText('The file is not text.');
  });

  it('switches between table and text, and keeps the choice', async () => {
    client.preview.mockImplementation(async (_id, path, text) =>
      text
        ? { ...PREVIEW, kind: 'text', text: `a,b\n1,${HOSTILE}` }
        : {
            ...{ ...PREVIEW, kind: 'table', has_text: path === 'a.csv' },
            ...{ columns: ['a', 'b'], rows: [['1', path]] }
          }
    );
    const kind = 'table';
    await show([file('a.csv', { kind }), file('b.parquet', { kind })]);
    const group = screen.getByRole('radiogroup'); // none at the binary file
    expect(group.getAttribute('aria-label')).toBe('View of a.csv');
    expect(client.preview).toHaveBeenCalledTimes(2); // the text only if asked for
    const table = screen.getByRole('radio', { name: 'Table' });
    await act(async () => {
      fireEvent.keyDown(table, { key: 'ArrowRight' });
    });
    const text = (): HTMLElement => screen.getByText(/^a,b\s1,<img/);
    expect([text().tagName, text().tabIndex]).toEqual(['PRE', 0]);
    expect(document.activeElement?.textContent).toBe('Text');
    const tables = (): number =>
      document.querySelectorAll('.jp-t9k-Preview table').length;
    expect(tables()).toBe(1);
    const open = async (name: string): Promise<void> => {
      await act(async () => {
        fireEvent.click(screen.getByRole('button', { name }));
      });
    };
    await open('b.parquet');
    await open('a.csv');
    expect(text().tagName).toBe('PRE');
    expect(client.preview).toHaveBeenCalledTimes(3);
    expect(tables()).toBe(0);
    fireEvent.click(screen.getByRole('radio', { name: 'Table' }));
    expect(tables()).toBe(1);
  });

  it('says that it is gone, and can be read again', async () => {
    client.artifact.mockRejectedValue(new ApiError(404, { message: 'Gone.' }));
    model = new ArtifactModel(client as unknown as ExperimentsClient, 'a1');
    await model.load();
    expect(model.failure?.message).toBe('Gone.');
    client.artifact.mockResolvedValue(detailOf([]));
    await model.load();
    expect([model.failure, model.detail?.name]).toEqual([null, 'report']);
  });
});

it('lists files in their folders', () => {
  const files = ['a', 'f/b', 'f/g/c', 'f/g/d'].map(path => file(path));
  const rows = (closed: string[]): string[] =>
    fileRows(files, new Set(closed)).map(
      ({ path, depth, count }) => `${path} ${depth} ${count}`
    );
  expect(rows([])).toEqual([
    ...['a 0 1', 'f/ 0 3', 'f/b 1 1', 'f/g/ 1 2', 'f/g/c 2 1', 'f/g/d 2 1']
  ]);
  expect(rows(['f/'])).toEqual(['a 0 1', 'f/ 0 3']);
});
