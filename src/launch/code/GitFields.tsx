/** Fields of a git repository: address, branch or commit, folder, credentials, and what is cloned. */
import * as React from 'react';
import { expectApiError } from '../../api/errors';
import { GitRepository, RepositoryFacts } from '../../api/types';
import { LinkButton } from '../../ui/Buttons';
import { CheckField, Select } from '../parts/choices';
import { Combobox } from '../parts/Combobox';
import { useLaunch, useModel } from '../parts/context';
import { Row, useField } from '../parts/Row';
import { TextField } from '../parts/TextField';

/** Delay between the last edit and the request to the repository, in ms. */
const DELAY = 600;
const EXAMPLE = 'https://git.example.org/team/project.git';

/** Fields of a git repository. */
export function GitFields({
  source
}: {
  source: GitRepository;
}): React.JSX.Element {
  const { model, trans } = useLaunch();
  const hasPods = useModel(({ facts }) => facts.has_pods);
  const { facts, failure, isCurrent } = useRepository(source);
  const now = isCurrent ? facts : null;
  const set = (changes: Partial<GitRepository>, field: string): void =>
    model.edit({ source: { ...source, ...changes } }, `/source/${field}`);
  return (
    <>
      <Row
        field="/source/address"
        caption={
          failure ??
          now?.reason ??
          trans.__('https://host/path or user@host:path, without a password.')
        }
      >
        <TextField
          code
          field="/source/address"
          value={source.address}
          placeholder={EXAMPLE}
          onChange={address =>
            set({ address: address.trim(), commit: null }, 'address')
          }
        />
      </Row>
      <Row
        field="/source/ref"
        caption={
          <CommitText
            source={source}
            facts={now}
            isFailed={failure !== null}
            renew={() => set({ commit: null }, 'ref')}
          />
        }
      >
        <Combobox
          code
          field="/source/ref"
          value={source.ref}
          choices={(facts?.branches ?? []).map(value => ({ value }))}
          placeholder={facts?.default_branch ?? trans.__('default branch')}
          onChange={ref => set({ ref: ref.trim(), commit: null }, 'ref')}
        />
      </Row>
      <Row
        field="/source/folder"
        caption={trans.__('Folder from which Python imports modules.')}
      >
        <TextField
          code
          field="/source/folder"
          value={source.folder}
          placeholder={trans.__('whole repository')}
          onChange={folder => set({ folder: folder.trim() }, 'folder')}
        />
      </Row>
      {hasPods ? (
        <Row
          field="/source/secret"
          caption={trans.__(
            'Secret with ssh-privatekey and known_hosts, or username and password. JupyterLab does not read it.'
          )}
        >
          <TextField
            code
            field="/source/secret"
            value={source.secret ?? ''}
            placeholder={trans.__('none, for a public repository')}
            onChange={secret =>
              set({ secret: secret.trim() || null }, 'secret')
            }
          />
        </Row>
      ) : (
        <Row group field="/source/secret">
          <span className="jp-t9k-secondary">
            {trans.__('Your git credential helper or SSH agent')}
          </span>
        </Row>
      )}
      <Row field="/source/history" others={['/source/submodules']}>
        <HistoryField
          isWhole={source.history}
          onChange={history => set({ history }, 'history')}
        />
        <CheckField
          field="/source/submodules"
          checked={source.submodules}
          onChange={submodules => set({ submodules }, 'submodules')}
        >
          {trans.__('with submodules')}
        </CheckField>
      </Row>
    </>
  );
}

function HistoryField({
  isWhole,
  onChange
}: {
  isWhole: boolean;
  onChange(isWhole: boolean): void;
}): React.JSX.Element {
  const { trans } = useLaunch();
  return (
    <Select
      {...useField('/source/history')}
      value={isWhole ? 'history' : 'commit'}
      onChange={event => onChange(event.target.value === 'history')}
    >
      <option value="commit">{trans.__('This commit only')}</option>
      <option value="history">{trans.__('With its history')}</option>
    </Select>
  );
}

/** The commit that runs, and how the user's own clone differs from it. */
function CommitText({
  source,
  facts,
  isFailed,
  renew
}: {
  source: GitRepository;
  facts: RepositoryFacts | null;
  /** True if the repository could not be read. */
  isFailed: boolean;
  /** Use the newest commit instead of the one that an earlier job ran. */
  renew(): void;
}): React.JSX.Element {
  const { trans } = useLaunch();
  const commit = source.commit ?? facts?.commit ?? null;
  const own = facts?.own?.commit ?? null;
  if (!commit) {
    return (
      <>
        {facts || isFailed || !source.address
          ? trans.__('Empty: the default branch.')
          : trans.__('Reading the repository…')}
      </>
    );
  }
  const id = commit.id.slice(0, 7);
  return (
    <>
      {source.commit
        ? trans.__('The commit %1 of the earlier job.', id)
        : trans.__('Now at %1.', id)}{' '}
      {source.commit && (
        <LinkButton onClick={renew}>
          {trans.__('Use the newest commit')}
        </LinkButton>
      )}
      {own && own.id !== commit.id
        ? facts?.own?.pushed
          ? trans.__('Your clone is at %1.', own.id.slice(0, 7))
          : trans.__(
              'Your clone is at %1, which is not pushed.',
              own.id.slice(0, 7)
            )
        : own && own.changed > 0
          ? trans._n(
              '%1 file of your clone differs from it.',
              '%1 files of your clone differ from it.',
              own.changed
            )
          : null}
    </>
  );
}

/** Answer to the last request about a repository. */
interface IKnown {
  facts: RepositoryFacts | null;
  /** Error of the last request; null if it succeeded. */
  failure: string | null;
  /** True if the facts are those of the branch or commit in the form; their branches are the repository's always. */
  isCurrent: boolean;
}

const UNKNOWN: IKnown = { facts: null, failure: null, isCurrent: false };

/** Return facts about a repository, requested after each change of its fields, or the error of the request. */
function useRepository(source: GitRepository): IKnown {
  const { model } = useLaunch();
  const [state, setState] = React.useState(UNKNOWN);
  const { address, ref } = source;
  const place = useModel(({ state: { engine, namespace }, form: { spec } }) =>
    JSON.stringify([engine, namespace, spec.entrypoint, spec.mounts])
  );
  React.useEffect(() => setState(UNKNOWN), [address, place]);
  React.useEffect(() => {
    setState(({ facts }) => ({ ...UNKNOWN, facts }));
    const abort = new AbortController();
    const timer = window.setTimeout(() => {
      if (!address) {
        return;
      }
      model.readRepository(true, abort.signal).then(
        facts => {
          if (!abort.signal.aborted) {
            setState({ facts, failure: null, isCurrent: true });
            void model.preview.refresh();
          }
        },
        (error: unknown) => {
          if (!abort.signal.aborted) {
            const failure = expectApiError(error).message;
            setState(({ facts }) => ({ facts, failure, isCurrent: false }));
          }
        }
      );
    }, DELAY);
    return () => {
      window.clearTimeout(timer);
      abort.abort();
    };
  }, [model, address, ref, place]);
  return state;
}
