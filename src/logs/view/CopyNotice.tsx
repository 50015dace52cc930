/** Notice about a copy of log lines. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { formatBytes, formatCount } from '../../common/format';
import { LogCopy } from '../model/copy';
import { Banner } from '../../ui/Banner';
import { LinkButton } from '../../ui/Buttons';
import { useSignal } from '../../common/hooks';

/** Props of `CopyNotice`. */
interface ICopyNoticeProps {
  copy: LogCopy;
  trans: TranslationBundle;
}

/** Shows why lines were not copied and what the user can do. */
export function CopyNotice({
  copy,
  trans
}: ICopyNoticeProps): React.JSX.Element | null {
  useSignal(copy.changed);
  const { state } = copy;
  const close = (
    <LinkButton onClick={() => copy.dismiss()}>{trans.__('Close')}</LinkButton>
  );
  if (state.kind === 'ready') {
    return (
      <Banner
        level="info"
        title={trans._n(
          '%2 line (%3) is ready to be copied.',
          '%2 lines (%3) are ready to be copied.',
          state.lines,
          formatCount(state.lines),
          formatBytes(state.text.length)
        )}
        actions={
          <>
            <LinkButton onClick={() => copy.finish()}>
              {trans.__('Copy')}
            </LinkButton>
            {close}
          </>
        }
      >
        {trans.__('The browser allows copying only right after a click.')}
      </Banner>
    );
  }
  if (state.kind === 'failed') {
    const { download } = state;
    return (
      <Banner
        level={download ? 'info' : 'error'}
        title={
          state.tooManyStreams
            ? trans.__(
                'Too many individual ranks are selected to copy their lines.'
              )
            : trans.__('Not copied. %1', state.message)
        }
        actions={
          <>
            {download && (
              <LinkButton onClick={download}>{trans.__('Download')}</LinkButton>
            )}
            {close}
          </>
        }
      >
        {state.tooManyStreams
          ? trans.__('Show all ranks, or fewer, or download all streams.')
          : state.hint}
      </Banner>
    );
  }
  return null;
}
