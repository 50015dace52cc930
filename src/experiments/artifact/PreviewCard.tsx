/** Preview of a file of an artifact. */
import { TranslationBundle } from '@jupyterlab/translation';
import { downloadIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { ApiError } from '../../api/errors';
import { ArtifactFile, Preview } from '../../api/types';
import { formatBytes, sentences } from '../../common/format';
import { LinkButton } from '../../ui/Buttons';
import { Segments } from '../../ui/Segments';
import { CopyButton } from '../../ui/CopyButton';
import { Icon } from '../../ui/Icon';
import { FileIcon } from './FileList';
import { Markdown, RenderMarkdown } from './Markdown';
import { Answer, ArtifactModel } from './model';
import { PreviewTable, PreviewText, Tensors } from './previewParts';

/** Form of a file's preview, besides text. */
type Form = 'page' | 'table';

interface IPreviewCardProps {
  file: ArtifactFile;
  model: ArtifactModel;
  /** Renders Markdown; null if the lab cannot, and the text is shown. */
  renderMarkdown: RenderMarkdown | null;
  trans: TranslationBundle;
}

/** A file: its facts, its preview, its download and checksums. */
export function PreviewCard(props: IPreviewCardProps): React.JSX.Element {
  const { file, model, renderMarkdown, trans } = props;
  const asText = model.showsText(file.path);
  const own = model.preview(file.path);
  const form = formOf(own, renderMarkdown !== null);
  const preview = asText && form === 'table' ? model.tableText(file.path) : own;
  const label = trans.__('Download %1', file.path);
  return (
    <section className="jp-t9k-Preview" aria-label={file.path}>
      <header>
        <FileIcon kind={file.kind} />
        <h3>{file.path}</h3>
        <span className="jp-t9k-secondary">{formatBytes(file.size)}</span>
        {form && (
          <Segments<Form | 'text'>
            aria-label={trans.__('View of %1', file.path)}
            segments={[
              {
                value: form,
                label: form === 'page' ? trans.__('Page') : trans.__('Table')
              },
              { value: 'text', label: trans.__('Text') }
            ]}
            value={asText ? 'text' : form}
            onChange={value => model.setShowsText(file.path, value === 'text')}
          />
        )}
        <a
          className="jp-t9k-IconButton"
          href={model.client.fileUrl(model.id, file.path)}
          download=""
          title={label}
          aria-label={label}
        >
          <Icon of={downloadIcon} size={16} />
        </a>
      </header>
      {preview instanceof ApiError ? (
        <p className="jp-t9k-secondary">
          {sentences([preview.message, preview.hint])}
        </p>
      ) : (
        preview && (
          <Content
            {...props}
            preview={preview}
            renderMarkdown={asText ? null : renderMarkdown}
          />
        )
      )}
      <Checksums {...props} />
    </section>
  );
}

/** Return the form that a file has besides text; null if it has none, or is not read yet. */
function formOf(preview: Answer<Preview>, rendersPages: boolean): Form | null {
  if (!preview || preview instanceof ApiError) {
    return null;
  }
  if (preview.kind === 'markdown' && rendersPages) {
    return 'page';
  }
  return preview.has_text ? 'table' : null;
}

function Content({
  preview,
  file,
  model,
  renderMarkdown,
  trans
}: IPreviewCardProps & { preview: Preview }): React.JSX.Element {
  const { kind, truncated, size } = preview;
  const text = preview.text ?? '';
  switch (kind) {
    case 'image':
      return (
        <img
          src={model.client.fileUrl(model.id, file.path)}
          alt={file.path}
          loading="lazy"
        />
      );
    case 'table':
      return <PreviewTable preview={preview} trans={trans} />;
    case 'tensors':
      return <Tensors preview={preview} trans={trans} />;
    case 'none':
      return (
        <p className="jp-t9k-secondary">
          {preview.problem ?? trans.__('There is no preview of this file.')}
        </p>
      );
  }
  return (
    <>
      {kind === 'markdown' && renderMarkdown ? (
        <Markdown text={text} render={renderMarkdown} />
      ) : (
        <PreviewText text={text} />
      )}
      {truncated && (
        <p className="jp-t9k-secondary">
          {trans.__('Only the beginning of %1 is shown.', formatBytes(size))}
        </p>
      )}
    </>
  );
}

/** The checksums of a file, which are computed when the user asks for them. */
function Checksums({
  file,
  model,
  trans
}: IPreviewCardProps): React.JSX.Element {
  const sums = model.checksum(file.path);
  if (sums === null) {
    return (
      <p className="jp-t9k-Preview-sums">
        <LinkButton
          aria-label={trans.__('Compute checksums of %1', file.path)}
          onClick={() => model.computeChecksum(file.path)}
        >
          {trans.__('Compute checksums')}
        </LinkButton>
      </p>
    );
  }
  if (!sums || sums instanceof ApiError) {
    return (
      <p className="jp-t9k-Preview-sums jp-t9k-secondary" role="status">
        {sums ? sums.message : trans.__('Reading the file…')}
      </p>
    );
  }
  return (
    <dl className="jp-t9k-Preview-sums">
      {[
        ['MD5', sums.md5],
        ['SHA-256', sums.sha256]
      ].map(([name, sum]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <code>{sum}</code>{' '}
            <CopyButton
              text={sum}
              label={trans.__('Copy')}
              kind="link"
              trans={trans}
            />
          </dd>
        </div>
      ))}
    </dl>
  );
}
