/** Files and references of an artifact. */
import { TranslationBundle } from '@jupyterlab/translation';
import {
  caretDownIcon,
  caretRightIcon,
  fileIcon,
  folderIcon,
  imageIcon,
  LabIcon,
  markdownIcon,
  spreadsheetIcon,
  textEditorIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';
import { ArtifactDetail, ArtifactFile } from '../../api/types';
import { formatBytes, formatCount } from '../../common/format';
import { CopyButton } from '../../ui/CopyButton';
import { Icon } from '../../ui/Icon';
import { Time } from '../../ui/Time';
import { artifactIcon } from '../flow/NodeIcon';
import { fileRows, IFileRow } from './fileRows';
import { ArtifactModel } from './model';

const ICONS: Record<ArtifactFile['kind'], LabIcon> = {
  text: textEditorIcon,
  table: spreadsheetIcon,
  image: imageIcon,
  tensors: artifactIcon,
  markdown: markdownIcon,
  none: fileIcon
};

/** Icon of a file by the kind of its preview. */
export function FileIcon({
  kind
}: Pick<ArtifactFile, 'kind'>): React.JSX.Element {
  return (
    <span className="jp-t9k-Artifact-icon" aria-hidden>
      <Icon of={ICONS[kind]} size={16} />
    </span>
  );
}

interface IFileListProps {
  model: ArtifactModel;
  detail: ArtifactDetail;
  trans: TranslationBundle;
}

/** The files of an artifact by folder. A click shows the preview of a file. */
export function FileList({
  model,
  detail,
  trans
}: IFileListProps): React.JSX.Element {
  const [closed, setClosed] = React.useState<ReadonlySet<string>>(new Set());
  const { files, file_count: count } = detail;
  const toggle = (path: string): void =>
    setClosed(before => {
      const after = new Set(before);
      if (!after.delete(path)) {
        after.add(path);
      }
      return after;
    });
  const rows = React.useMemo(() => fileRows(files, closed), [files, closed]);
  return (
    <>
      <table
        className="jp-t9k-Table jp-t9k-Artifact-files"
        aria-label={trans.__('Files')}
      >
        <thead>
          <tr>
            <th scope="col">{trans.__('Name')}</th>
            <th scope="col" className="jp-t9k-Table-number">
              {trans.__('Size')}
            </th>
            <th scope="col" className="jp-t9k-Table-number">
              {trans.__('Written')}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(row =>
            row.file ? (
              <FileRow
                key={row.path}
                row={row}
                file={row.file}
                model={model}
                trans={trans}
              />
            ) : (
              <FolderRow
                key={row.path}
                row={row}
                isClosed={closed.has(row.path)}
                toggle={toggle}
                trans={trans}
              />
            )
          )}
        </tbody>
      </table>
      {count > files.length && (
        <p className="jp-t9k-Artifact-note jp-t9k-secondary">
          {trans.__('Only the first %1 files are listed.', files.length)}
        </p>
      )}
      {count === 0 && (
        <p className="jp-t9k-Artifact-note jp-t9k-secondary">
          {trans.__('This artifact has no files.')}
        </p>
      )}
    </>
  );
}

/** Space before the name of a file or folder. */
function indent(depth: number): React.CSSProperties {
  return { paddingLeft: 16 + 20 * depth };
}

function FolderRow({
  row: { path, name, depth, count },
  isClosed,
  toggle,
  trans
}: {
  row: IFileRow;
  isClosed: boolean;
  toggle(path: string): void;
  trans: TranslationBundle;
}): React.JSX.Element {
  return (
    <tr>
      <td style={indent(depth)}>
        <button
          type="button"
          className="jp-t9k-Artifact-name"
          aria-expanded={!isClosed}
          onClick={() => toggle(path)}
        >
          <span className="jp-t9k-Artifact-icon">
            <Icon of={isClosed ? caretRightIcon : caretDownIcon} size={16} />
          </span>
          <span className="jp-t9k-Artifact-icon">
            <Icon of={folderIcon} size={16} />
          </span>
          <span title={path}>{name}</span>
        </button>
      </td>
      <td className="jp-t9k-Table-number">
        {trans._n('%1 file', '%1 files', count)}
      </td>
      <td />
    </tr>
  );
}

function FileRow({
  row: { path, name, depth },
  file,
  model,
  trans
}: {
  row: IFileRow;
  file: ArtifactFile;
  model: ArtifactModel;
  trans: TranslationBundle;
}): React.JSX.Element {
  const isSelected = model.selected === path;
  const unreadable = trans.__('This file can’t be read.');
  return (
    <tr data-selected={isSelected}>
      <td style={indent(depth)}>
        <button
          type="button"
          className="jp-t9k-Artifact-name"
          aria-pressed={isSelected}
          disabled={!file.readable}
          title={file.readable ? path : unreadable}
          onClick={() => {
            model.selected = isSelected ? null : path;
          }}
        >
          <FileIcon kind={file.kind} />
          <span>{name}</span>
        </button>
      </td>
      <td className="jp-t9k-Table-number">
        {file.readable ? formatBytes(file.size) : ''}
      </td>
      <td className="jp-t9k-Table-number">
        <Time time={file.modified_at} trans={trans} />
      </td>
    </tr>
  );
}

/** Objects that are stored elsewhere. Their addresses are shown and never followed. */
export function References({
  detail: { references },
  trans
}: Omit<IFileListProps, 'model'>): React.JSX.Element | null {
  if (!references.length) {
    return null;
  }
  const title = trans.__('References');
  return (
    <section aria-label={title}>
      <h3>
        {title}{' '}
        <span className="jp-t9k-caption">
          {trans.__('%1, kept elsewhere', formatCount(references.length))}
        </span>
      </h3>
      <ul className="jp-t9k-Artifact-references">
        {references.map(({ path, uri }) => (
          <li key={path}>
            <span title={path}>{path}</span>
            <code title={uri}>{uri}</code>
            <CopyButton
              text={uri}
              label={trans.__('Copy')}
              kind="link"
              trans={trans}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}
