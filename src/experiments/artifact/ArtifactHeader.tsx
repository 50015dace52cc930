/** Header of an artifact's page. */
import { TranslationBundle } from '@jupyterlab/translation';
import {
  copyIcon,
  downloadIcon,
  folderIcon,
  refreshIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';
import { ArtifactDetail } from '../../api/types';
import { formatBytes, formatCount } from '../../common/format';
import { Button, IconButton } from '../../ui/Buttons';
import { Icon } from '../../ui/Icon';
import { Time } from '../../ui/Time';
import { artifactIcon } from '../flow/NodeIcon';
import { RenderMarkdown } from './Markdown';
import { ArtifactModel } from './model';

/** Functions of the lab that the page uses. */
export interface IArtifactLab {
  /** Opens the page of a run or an artifact. */
  open(kind: 'run' | 'artifact', id: string): void;
  /** Shows a folder in the file browser. */
  openFolder(path: string): void;
  copy(text: string): void;
  /** Deletes the artifact after the user has confirmed it. */
  remove(): void;
  /** Null if the lab cannot render Markdown. */
  renderMarkdown: RenderMarkdown | null;
}

interface IArtifactHeaderProps {
  model: ArtifactModel;
  lab: IArtifactLab;
  detail: ArtifactDetail;
  trans: TranslationBundle;
}

/** Name, facts, labels and actions of an artifact. */
export function ArtifactHeader({
  model,
  lab,
  detail,
  trans
}: IArtifactHeaderProps): React.JSX.Element {
  const { name, suffix, labels, path, size, created_at: created } = detail;
  const { archived, place } = detail;
  const where = path ?? place;
  // The file browser does not show hidden folders, such as `.em`.
  const isHidden = path?.split('/').some(part => part.startsWith('.'));
  const { file_count: count, more_files: hasMore } = detail;
  const files = hasMore
    ? trans.__('more than %1 files', formatCount(count))
    : trans._n('%1 file', '%1 files', count);
  return (
    <div className="jp-t9k-Artifact-header">
      <span className="jp-t9k-Flow-icon" aria-hidden>
        <Icon of={artifactIcon} size={18} />
      </span>
      <h2 tabIndex={-1} title={name}>
        {name}
      </h2>
      <span className="jp-t9k-secondary">
        {[
          files,
          hasMore
            ? trans.__('more than %1', formatBytes(size))
            : formatBytes(size),
          suffix
        ]
          .filter(Boolean)
          .join(' · ')}
        {created !== null && (
          <>
            {' · '}
            <Time time={created} trans={trans} />
          </>
        )}
      </span>
      {labels.map((label, index) => (
        <span key={index} className="jp-t9k-Artifact-label" title={label}>
          {label}
        </span>
      ))}
      {archived && (
        <span className="jp-t9k-Artifact-label">{trans.__('archived')}</span>
      )}
      <span className="jp-t9k-Artifact-actions">
        {count > 0 && !hasMore && (
          <a
            className="jp-t9k-Button"
            href={model.client.archiveUrl(model.id)}
            download=""
          >
            <Icon of={downloadIcon} size={16} />
            <span>{trans.__('Download as ZIP')}</span>
          </a>
        )}
        {path !== null && !isHidden && (
          <Button icon={folderIcon} onClick={() => lab.openFolder(path)}>
            {trans.__('Show the folder')}
          </Button>
        )}
        {where !== null && (
          <Button icon={copyIcon} onClick={() => lab.copy(where)}>
            {trans.__('Copy the path')}
          </Button>
        )}
        <Button onClick={() => void model.archive(!archived)}>
          {archived ? trans.__('Restore') : trans.__('Archive')}
        </Button>
        <Button onClick={lab.remove}>{trans.__('Delete…')}</Button>
        <IconButton
          icon={refreshIcon}
          label={trans.__('Refresh')}
          onClick={() => void model.load()}
        />
      </span>
    </div>
  );
}
