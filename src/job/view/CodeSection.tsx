/** Section of a job's code: the copy that the job runs, how the files of now differ from it, and restoring it. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { CodeSource } from '../../api/aliases';
import { ApiError, expectApiError } from '../../api/errors';
import {
  CodeFile,
  CodeSnapshot,
  CodeText,
  GitRepository,
  Job,
  JobCode,
  Restored
} from '../../api/types';
import { formatBytes, listed, sentences } from '../../common/format';
import { InView } from '../../common/hooks';
import { LinkButton } from '../../ui/Buttons';
import { DiffLines } from '../../ui/editor/DiffLines';

/** Requests about a job's code. */
export interface ICodeReader {
  /** Return the job's code, compared with the files of now. */
  read(): Promise<JobCode>;
  /** Return a file of the code. */
  file(path: string): Promise<CodeText>;
  /** Write the code to a folder, given as a path of the contents API. */
  restore(folder: string): Promise<Restored>;
}

/** Properties of the section. */
interface ICodeSectionProps {
  job: Job;
  source: CodeSource;
  code: ICodeReader;
  openFolder(path: string): void;
  trans: TranslationBundle;
}

/** Section “Code” of a job that runs a snapshot or a git repository. */
export function CodeSection(props: ICodeSectionProps): React.JSX.Element {
  const { job, source, code, trans } = props;
  const [found, failure] = useCode(code);
  const [isOpen, open] = React.useState(false);
  return (
    <section className="jp-t9k-Section" aria-label={trans.__('Code')}>
      <h3>
        {trans.__('Code')}
        {found?.kept && (
          <LinkButton aria-expanded={isOpen} onClick={() => open(!isOpen)}>
            {isOpen ? trans.__('Hide files') : trans.__('Show files')}
          </LinkButton>
        )}
      </h3>
      <dl className="jp-t9k-Facts">
        {source.kind === 'git' ? (
          <RepositoryRows source={source} trans={trans} />
        ) : (
          <SnapshotRows source={source} trans={trans} />
        )}
        <dt>{trans.__('Now')}</dt>
        <dd>{failure?.message ?? nowText(found, source, trans)}</dd>
      </dl>
      {isOpen && found && (
        <CodeFiles files={found.files} code={code} trans={trans} />
      )}
      {found?.kept && <Restore {...props} job={job} />}
    </section>
  );
}

function SnapshotRows({
  source,
  trans
}: {
  source: CodeSnapshot;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { taken } = source;
  return (
    <>
      <dt>{trans.__('Snapshot')}</dt>
      <dd title={taken?.path}>
        {taken &&
          `${listed([
            trans._n('%1 file', '%1 files', taken.files),
            formatBytes(taken.size)
          ])} · `}
        <code>{taken?.digest.slice(0, 7)}</code>
      </dd>
      <dt>{trans.__('Folder')}</dt>
      <dd>
        <code>{source.folder}</code>
      </dd>
      {taken?.commit && (
        <>
          <dt>{trans.__('Commit')}</dt>
          <dd>
            <code>{taken.commit.id.slice(0, 7)}</code>
            {taken.commit.branch !== null && ` · ${taken.commit.branch}`} · “
            {taken.commit.subject}”
            {taken.commit.changed > 0 &&
              ` · ${trans._n('%1 different file', '%1 different files', taken.commit.changed)}`}
          </dd>
        </>
      )}
    </>
  );
}

function RepositoryRows({
  source,
  trans
}: {
  source: GitRepository;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { commit } = source;
  return (
    <>
      <dt>{trans.__('Repository')}</dt>
      <dd>
        <code>{source.address}</code>
        {source.submodules && ` · ${trans.__('with submodules')}`}
      </dd>
      <dt>{trans.__('Commit')}</dt>
      <dd title={commit?.id}>
        {commit ? (
          <>
            <code>{commit.id.slice(0, 7)}</code>
            {commit.branch !== null && ` · ${commit.branch}`}
          </>
        ) : (
          <>
            {source.ref
              ? trans.__('The newest of %1 when a pod starts', source.ref)
              : trans.__('The newest of the default branch when a pod starts')}
          </>
        )}
      </dd>
      {source.folder && (
        <>
          <dt>{trans.__('Folder')}</dt>
          <dd>
            <code>{source.folder}</code>
          </dd>
        </>
      )}
    </>
  );
}

function nowText(
  found: JobCode | null,
  source: CodeSource,
  trans: TranslationBundle
): string {
  if (!found) {
    return trans.__('Reading…');
  }
  if (found.reason) {
    return found.reason;
  }
  if (!found.compared) {
    return source.kind === 'git'
      ? trans.__('JupyterLab has no clone of yours to compare with.')
      : trans.__('The folder is gone, so the files can’t be compared.');
  }
  if (source.kind === 'git') {
    return found.changed
      ? trans._n(
          '%1 file of your clone differs from the commit',
          '%1 files of your clone differ from the commit',
          found.changed
        )
      : trans.__('The files of your clone are as in the commit.');
  }
  return found.changed
    ? trans._n(
        '%1 file differs from the snapshot',
        '%1 files differ from the snapshot',
        found.changed
      )
    : trans.__('The files are as in the snapshot.');
}

/** Return a job's code, read when the page is first visible, or the error of the request. */
function useCode(code: ICodeReader): [JobCode | null, ApiError | null] {
  const inView = React.useContext(InView);
  const [found, setFound] = React.useState<JobCode | null>(null);
  const [failure, setFailure] = React.useState<ApiError | null>(null);
  React.useEffect(() => {
    if (!inView) {
      return;
    }
    let current = true;
    code.read().then(
      answer => {
        if (current) {
          setFound(answer);
          setFailure(null);
        }
      },
      (error: unknown) => current && setFailure(expectApiError(error))
    );
    return () => {
      current = false;
    };
  }, [code, inView]);
  return [found, failure];
}

/** Files of the snapshot. A click shows the difference from now, or the text of an equal file. */
function CodeFiles({
  files,
  code,
  trans
}: {
  files: readonly CodeFile[];
  code: ICodeReader;
  trans: TranslationBundle;
}): React.JSX.Element {
  const [chosen, choose] = React.useState<string | null>(null);
  const [shown, show] = React.useState<CodeText | ApiError | null>(null);
  React.useEffect(() => {
    show(null);
    if (chosen === null) {
      return;
    }
    let current = true;
    code.file(chosen).then(
      answer => current && show(answer),
      (error: unknown) => current && show(expectApiError(error))
    );
    return () => {
      current = false;
    };
  }, [code, chosen]);
  const states: Record<string, string> = {
    changed: trans.__('changed since'),
    new: trans.__('new since'),
    gone: trans.__('gone since')
  };
  return (
    <>
      <table className="jp-t9k-CodeFiles">
        <thead>
          <tr>
            <th scope="col">{trans.__('Name')}</th>
            <th scope="col">{trans.__('Size')}</th>
            <th scope="col">{trans.__('State')}</th>
          </tr>
        </thead>
        <tbody>
          {files.map(({ path, size, change }) => (
            <tr key={path} aria-current={path === chosen || undefined}>
              <td>
                <LinkButton onClick={() => choose(path)}>
                  <code>{path}</code>
                </LinkButton>
              </td>
              <td>{formatBytes(size)}</td>
              <td>{states[change ?? ''] ?? ''}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {chosen !== null && shown !== null && (
        <FileContent name={chosen} shown={shown} trans={trans} />
      )}
    </>
  );
}

function FileContent({
  name,
  shown,
  trans
}: {
  name: string;
  shown: CodeText | ApiError;
  trans: TranslationBundle;
}): React.JSX.Element {
  if (shown instanceof ApiError) {
    return <p role="status">{shown.message}</p>;
  }
  if (shown.diff) {
    const label = trans.__('Differences of %1', name);
    return <DiffLines diff={shown.diff} label={label} />;
  }
  return shown.text === null ? (
    <p role="status">
      {trans.__('The file is binary or too large to be shown.')}
    </p>
  ) : (
    <pre
      className="jp-t9k-Diff"
      tabIndex={0}
      role="group"
      aria-label={trans.__('Text of %1', name)}
    >
      {shown.text}
    </pre>
  );
}

/** Field and button that write the snapshot to a new folder. */
function Restore({
  job,
  source,
  code,
  openFolder,
  trans
}: ICodeSectionProps): React.JSX.Element {
  const path = source.kind === 'git' ? source.address : source.folder;
  const beside =
    path
      .replace(/\.git$/, '')
      .split(/[/:]/)
      .pop() || 'code';
  const [folder, setFolder] = React.useState(`${beside}-${job.name}`);
  const [done, setDone] = React.useState<Restored | ApiError | null>(null);
  const [busy, setBusy] = React.useState(false);
  const restore = async (): Promise<void> => {
    setBusy(true);
    try {
      setDone(await code.restore(folder));
    } catch (error) {
      setDone(expectApiError(error));
    }
    setBusy(false);
  };
  return (
    <div className="jp-t9k-CodeRestore">
      <label>
        {trans.__('Restore as a new folder')}{' '}
        <input
          type="text"
          spellCheck={false}
          value={folder}
          onChange={event => setFolder(event.target.value)}
        />
      </label>{' '}
      <LinkButton
        disabled={busy || !folder.trim()}
        onClick={() => void restore()}
      >
        {trans.__('Restore')}
      </LinkButton>{' '}
      <span role="status">
        {done instanceof ApiError ? (
          sentences([done.message, done.hint])
        ) : done ? (
          <>
            {trans._n('%1 file written to', '%1 files written to', done.files)}{' '}
            <LinkButton onClick={() => openFolder(done.folder)}>
              <code>{done.folder}</code>
            </LinkButton>
          </>
        ) : null}
      </span>
    </div>
  );
}
