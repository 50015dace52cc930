import { StateDB } from '@jupyterlab/statedb';
import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import { RepositoryFacts, RepositoryRequest } from '../../../src/api/types';
import { ownRepository } from '../../../src/launch/code/repository';
import { LaunchModel } from '../../../src/launch/model/launch';
import { ClusterServer } from '../clusterFakes';
import { someEditors } from '../editors';
import { json } from '../fakes';
import { launchModel } from '../launchFakes';
import { drawLaunch, layOut, someActions } from '../launchView';

const FACTS: RepositoryFacts = {
  own: null,
  commit: { id: '1234567890', branch: 'main', subject: 's', changed: 0 },
  default_branch: 'main',
  branches: ['main', 'more'],
  reason: null,
  hint: null
};

describe('what the form reads about code and manifest', () => {
  const editors = someEditors();
  let server: ClusterServer;
  let model: LaunchModel;
  /** Branches that were read. */
  let read: string[];
  let repository: () => Response | Promise<Response>;

  beforeAll(() => {
    layOut(1200);
    Range.prototype.getClientRects = () => [] as unknown as DOMRectList;
  });

  beforeEach(async () => {
    server = new ClusterServer();
    read = [];
    repository = () => json(FACTS);
    const { answer } = server;
    server.answer = request => {
      if (request.url.endsWith('/launch/repository')) {
        const { source } = (request.body as RepositoryRequest).spec;
        read.push(source?.kind === 'git' ? (source.ref ?? '') : '');
        return repository();
      }
      return request.url.includes('/manifest-schema')
        ? json({ message: 'Busy.' }, 503)
        : answer(request);
    };
    const db = new StateDB();
    model = launchModel(server, { db });
    await model.open();
    await model.moveTo('t9k');
    await drawLaunch(model, db, someActions(), editors);
  });

  afterEach(() => model.dispose());

  it('keeps the branches while another is typed, and ends at a failure', async () => {
    const address = 'https://git.test/a.git';
    const source = { ...ownRepository(null), address };
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: /^Code/ }));
      model.edit({ source }, '/source');
    });
    await screen.findByText(/^Now at 1234567\./);
    repository = () => json({ message: 'No such branch.' }, 422);
    const ref = screen.getByRole('combobox', { name: 'Branch or commit' });
    ref.focus();
    fireEvent.change(ref, { target: { value: 'm' } });
    expect(screen.getByText('Reading the repository…')).toBeTruthy();
    const branches = (): string[] =>
      screen
        .getAllByRole('option')
        .map(({ textContent }) => textContent ?? '')
        .filter(text => FACTS.branches.includes(text));
    expect(branches()).toEqual(FACTS.branches);
    await screen.findByText('No such branch.');
    expect(read).toEqual(['', 'm']);
    expect(screen.queryByText('Reading the repository…')).toBeNull();
    expect(branches()).toEqual(FACTS.branches);
  });

  it('promises no fields of a manifest that could not be loaded', async () => {
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Edit as YAML' }));
    });
    await waitFor(() =>
      expect(screen.getByText(/could not be loaded\./)).toBeTruthy()
    );
    expect(screen.queryByText(/Ctrl Space/)).toBeNull();
  });
});
