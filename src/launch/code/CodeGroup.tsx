/** The form's group “Code”: the files as they are, a snapshot that is taken at submission, or a git repository. */
import { TranslationBundle } from '@jupyterlab/translation';
import { closeIcon, folderIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { CodeSource } from '../../api/aliases';
import { LEAVE_OUT } from '../../api/constants';
import { CodeSnapshot, SnapshotPreview } from '../../api/types';
import { formatBytes } from '../../common/format';
import { IconButton, LinkButton } from '../../ui/Buttons';
import { Icon } from '../../ui/Icon';
import { folderOf } from '../content/entrypoints';
import { SegmentsField } from '../parts/choices';
import { useFixed, useLaunch, useModel } from '../parts/context';
import { Group, IFolding } from '../parts/groups/Group';
import { Row, useField } from '../parts/Row';
import { PathField } from '../parts/TextField';
import { GitFields } from './GitFields';
import { ownRepository, repositoryName } from './repository';
import { useSnapshot } from './useSnapshot';

/** Group “Code”. */
export function CodeGroup({
  folding
}: {
  folding: IFolding;
}): React.JSX.Element {
  const { model, trans } = useLaunch();
  const { files } = useSnapshot();
  const source = useModel(({ form }) => form.spec.source) ?? null;
  const choose = useKinds(source);
  return (
    <Group
      name="code"
      title={trans.__('Code')}
      summary={({ form }) => summaryOf(form.spec.source ?? null, trans)}
      folding={folding}
    >
      <Row group field="/source" caption={captionOf(source, trans)}>
        <SegmentsField<SourceKind>
          aria-label={trans.__('Code')}
          field="/source"
          segments={[
            { value: 'files', label: trans.__('Files as they are') },
            { value: 'snapshot', label: trans.__('Snapshot at submission') },
            { value: 'git', label: trans.__('Git repository') }
          ]}
          value={source?.kind ?? 'files'}
          onChange={kind =>
            void choose(kind).then(
              chosen =>
                chosen !== undefined &&
                model.edit({ source: chosen }, '/source')
            )
          }
        />
      </Row>
      {source?.kind === 'snapshot' && (
        <>
          <FolderField source={source} />
          {files?.commit && <CommitRow files={files} />}
          <LeaveOutField source={source} />
          {files && <CopyRow files={files} />}
        </>
      )}
      {source?.kind === 'git' && <GitFields source={source} />}
    </Group>
  );
}

type SourceKind = 'files' | CodeSource['kind'];

/**
 * Return a function that gives the source of a kind: the last one of that kind, or one for the form's file.
 *
 * @param source - The form's source, which is remembered.
 */
function useKinds(
  source: CodeSource | null
): (kind: SourceKind) => Promise<CodeSource | null | undefined> {
  const { model } = useLaunch();
  const last = React.useRef<Partial<Record<SourceKind, CodeSource>>>({});
  const wanted = React.useRef<SourceKind>('files');
  if (source) {
    last.current[source.kind] = source;
  }
  return async kind => {
    wanted.current = kind;
    const known = last.current[kind];
    if (kind === 'files' || known) {
      return known ?? null;
    }
    if (kind === 'snapshot') {
      const { entrypoint, working_dir } = model.form.spec;
      return {
        kind,
        folder:
          folderOf(entrypoint.kind, entrypoint.value) || working_dir || '/',
        leave_out: [...LEAVE_OUT],
        taken: null
      };
    }
    // Without an answer, the user enters the address.
    const facts = await model.readRepository(false).catch(() => null);
    return wanted.current === kind
      ? ownRepository(facts?.own ?? null)
      : undefined;
  };
}

function summaryOf(
  source: CodeSource | null,
  trans: TranslationBundle
): string {
  if (!source) {
    return trans.__('Files as they are');
  }
  if (source.kind === 'snapshot') {
    return trans.__('Snapshot at submission');
  }
  const name = repositoryName(source.address);
  return source.ref ? trans.__('%1 at %2', name, source.ref) : name;
}

function captionOf(
  source: CodeSource | null,
  trans: TranslationBundle
): string {
  switch (source?.kind) {
    case 'snapshot':
      return trans.__(
        'The job reads a copy made when you submit. Later edits do not change this job.'
      );
    case 'git':
      return trans.__(
        'The repository is cloned before the job starts. Every restart runs the same commit.'
      );
    default:
      return trans.__(
        'The job reads the files when it starts, and again when it restarts.'
      );
  }
}

function FolderField({ source }: { source: CodeSnapshot }): React.JSX.Element {
  const { model, trans, actions } = useLaunch();
  const root = useModel(({ state }) => state.prefill?.root ?? null);
  const set = (folder: string): void =>
    model.edit({ source: { ...source, folder } }, '/source/folder');
  const choose = async () => {
    const path = await actions.chooseFolder();
    if (path !== null && root !== null) {
      set(`${root.replace(/\/$/, '')}/${path}`);
    }
  };
  const isFixed = useFixed('/source/folder') !== null;
  return (
    <Row field="/source/folder">
      <PathField
        field="/source/folder"
        path={source.folder}
        onChange={path => path && set(path)}
      />
      {root !== null && !isFixed && (
        <IconButton
          icon={folderIcon}
          label={trans.__('Choose a folder to copy…')}
          onClick={() => void choose()}
        />
      )}
    </Row>
  );
}

/** The commit that is checked out, and the number of files that differ from it. */
function CommitRow({ files }: { files: SnapshotPreview }): React.JSX.Element {
  const { trans } = useLaunch();
  return (
    <Row
      group
      field="/source/commit"
      label={trans.__('git')}
      caption={trans.__(
        'The commit and the differences are kept with the copy.'
      )}
    >
      <CommitText files={files} trans={trans} />
    </Row>
  );
}

function CommitText({
  files,
  trans
}: {
  files: SnapshotPreview;
  trans: TranslationBundle;
}): React.JSX.Element | null {
  const { commit } = files;
  if (!commit) {
    return null;
  }
  const id = commit.id.slice(0, 7);
  return (
    <span className="jp-t9k-Launch-commit">
      <code>
        {commit.branch === null ? id : trans.__('%1 at %2', commit.branch, id)}
      </code>{' '}
      “{commit.subject}” ·{' '}
      <b>
        {commit.changed
          ? trans._n('%1 different file', '%1 different files', commit.changed)
          : trans.__('no differences')}
      </b>
    </span>
  );
}

/** Patterns of files that are not copied, as chips. */
function LeaveOutField({
  source
}: {
  source: CodeSnapshot;
}): React.JSX.Element {
  const { model, trans, actions } = useLaunch();
  const { files } = useSnapshot();
  const { readOnly } = useField('/source/leave_out');
  const [text, setText] = React.useState('');
  const set = (leave_out: string[]): void =>
    model.edit({ source: { ...source, leave_out } }, '/source/leave_out');
  const add = (): void => {
    const pattern = text.trim();
    if (pattern && !source.leave_out.includes(pattern)) {
      set([...source.leave_out, pattern]);
    }
    setText('');
  };
  const ignoreFile = files?.ignore_file ?? null;
  return (
    <Row
      group
      field="/source/leave_out"
      caption={
        <>
          {trans.__('In addition to the rules of .gitignore files.')}{' '}
          {ignoreFile !== null && (
            <LinkButton onClick={() => actions.openFile(ignoreFile)}>
              {trans.__('Open .gitignore')}
            </LinkButton>
          )}
        </>
      }
    >
      <span
        className="jp-t9k-Launch-chips"
        role="group"
        aria-label={trans.__('Left out')}
      >
        {source.leave_out.map(pattern => (
          <button
            key={pattern}
            type="button"
            className="jp-t9k-Launch-chip"
            aria-label={trans.__('Remove the pattern %1', pattern)}
            disabled={readOnly}
            onClick={() =>
              set(source.leave_out.filter(each => each !== pattern))
            }
          >
            <code>{pattern}</code>
            <Icon of={closeIcon} />
          </button>
        ))}
        <input
          type="text"
          data-code
          data-field="/source/leave_out"
          readOnly={readOnly}
          spellCheck={false}
          aria-label={trans.__('Add a pattern')}
          placeholder={trans.__('Add a pattern')}
          value={text}
          onChange={event => setText(event.target.value)}
          onBlur={add}
          onKeyDown={event => {
            if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) {
              event.preventDefault();
              add();
            } else if (event.key === 'Backspace' && !text) {
              set(source.leave_out.slice(0, -1));
            }
          }}
        />
      </span>
    </Row>
  );
}

/** Size and place of the copy. */
function CopyRow({ files }: { files: SnapshotPreview }): React.JSX.Element {
  const { trans } = useLaunch();
  const count = trans._n('%1 file', '%1 files', files.count);
  return (
    <Row group field="/source/copy" label={trans._p('field', 'Copy')}>
      <span className="jp-t9k-Launch-copy">
        <b>
          {count}, {formatBytes(files.size)}
        </b>{' '}
        <span className="jp-t9k-secondary">
          {trans.__('in %1, kept as long as the job is listed', files.store)}
        </span>
      </span>
    </Row>
  );
}
