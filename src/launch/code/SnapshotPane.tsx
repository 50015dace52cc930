/** Preview of a snapshot: the files that are copied and left out, and the difference of a file from the commit. */
import { TranslationBundle } from '@jupyterlab/translation';
import { refreshIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { expectApiError } from '../../api/errors';
import { CodeFile, FileDiff, SnapshotPreview } from '../../api/types';
import { formatBytes, sentences } from '../../common/format';
import { IconButton, LinkButton } from '../../ui/Buttons';
import { DiffLines } from '../../ui/editor/DiffLines';
import { useLaunch } from '../parts/context';
import { useSnapshot } from './useSnapshot';

/** Files of the snapshot, those that differ from the commit first. */
export function SnapshotPane(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const { files, failure, refresh } = useSnapshot();
  const [chosen, choose] = React.useState<string | null>(null);
  const [shown, show] = React.useState<FileDiff | string | null>(null);
  React.useEffect(() => {
    show(null);
    if (chosen === null) {
      return;
    }
    let current = true;
    model.readSnapshotDiff(chosen).then(
      diff => current && show(diff),
      (error: unknown) => current && show(expectApiError(error).message)
    );
    return () => {
      current = false;
    };
  }, [model, chosen, files]);
  return (
    <section
      className="jp-t9k-Launch-command"
      aria-label={trans.__('What is copied')}
    >
      <div className="jp-t9k-Launch-commandHead">
        <h3>
          {trans.__('What is copied')}{' '}
          <span className="jp-t9k-caption">
            {trans.__('read again at submission')}
          </span>
        </h3>
        <IconButton
          icon={refreshIcon}
          label={trans.__('Read the folder again')}
          onClick={refresh}
        />
      </div>
      {failure && (
        <p className="jp-t9k-Launch-stale" role="status">
          {sentences([failure.message, failure.hint])}
        </p>
      )}
      <div className="jp-t9k-Launch-lines">
        {files && (
          <FilesTable
            files={files}
            chosen={chosen}
            choose={choose}
            trans={trans}
          />
        )}
      </div>
      {chosen !== null && shown !== null && (
        <Difference
          name={chosen}
          shown={shown}
          folder={files?.folder ?? null}
          commit={files?.commit?.id.slice(0, 7) ?? null}
        />
      )}
    </section>
  );
}

function FilesTable({
  files,
  chosen,
  choose,
  trans
}: {
  files: SnapshotPreview;
  chosen: string | null;
  choose(file: string): void;
  trans: TranslationBundle;
}): React.JSX.Element {
  return (
    <table className="jp-t9k-CodeFiles">
      <thead>
        <tr>
          <th scope="col">{trans.__('Name')}</th>
          <th scope="col">{trans.__('Files')}</th>
          <th scope="col">{trans.__('Size')}</th>
          <th scope="col">{trans.__('State')}</th>
        </tr>
      </thead>
      <tbody>
        <tr>
          <td>{files.folder?.split('/').pop() || trans.__('root folder')}</td>
          <td>{files.count}</td>
          <td>{formatBytes(files.size)}</td>
          <td />
        </tr>
        {files.files.map(file => (
          <tr key={file.path} aria-current={file.path === chosen || undefined}>
            <td>
              <LinkButton onClick={() => choose(file.path)}>
                <code>{file.path}</code>
              </LinkButton>
            </td>
            <td />
            <td>{formatBytes(file.size)}</td>
            <td>{changeText(file, trans)}</td>
          </tr>
        ))}
        {files.more > 0 && (
          <tr>
            <td colSpan={4}>
              {trans._n('%1 more file', '%1 more files', files.more)}
            </td>
          </tr>
        )}
        {files.same > 0 && (
          <tr>
            <td>{trans.__('all others')}</td>
            <td>{files.same}</td>
            <td>{formatBytes(files.same_size)}</td>
            <td>
              {trans.__('as in %1', files.commit?.id.slice(0, 7) ?? 'git')}
            </td>
          </tr>
        )}
        {files.left_out.map(each => (
          <tr key={each.path} data-left-out>
            <td>
              <code>{each.path}</code>
            </td>
            <td>{each.complete ? each.files : trans.__('%1 +', each.files)}</td>
            <td>{formatBytes(each.size)}</td>
            <td>{each.reason}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function changeText(
  { change }: CodeFile,
  trans: TranslationBundle
): string | null {
  return change === 'changed'
    ? trans.__('changed')
    : change === 'new'
      ? trans.__('not in git')
      : null;
}

/** Difference of the chosen file from the commit. */
function Difference({
  name,
  shown,
  folder,
  commit
}: {
  name: string;
  /** The difference, or the error of its request. */
  shown: FileDiff | string;
  folder: string | null;
  commit: string | null;
}): React.JSX.Element {
  const { trans, actions } = useLaunch();
  const diff = typeof shown === 'string' ? null : shown.diff;
  return (
    <>
      <div className="jp-t9k-Launch-commandHead">
        <h3>
          <code>{name}</code>{' '}
          <span className="jp-t9k-caption">
            {commit !== null && trans.__('differences from %1', commit)}
          </span>
        </h3>
        {folder !== null && (
          <LinkButton
            onClick={() =>
              actions.openFile(folder ? `${folder}/${name}` : name)
            }
          >
            {trans.__('Open')}
          </LinkButton>
        )}
      </div>
      {diff ? (
        <DiffLines diff={diff} label={trans.__('Differences of %1', name)} />
      ) : (
        <p className="jp-t9k-Launch-lines">
          {typeof shown === 'string'
            ? shown
            : diff === ''
              ? trans.__('No differences.')
              : trans.__('The file is binary or too large to compare.')}
        </p>
      )}
    </>
  );
}
