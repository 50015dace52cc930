/** Example of a message, and the JSON that is sent for it. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { NoticePreview } from '../../api/types';
import { formatBytes } from '../../common/format';
import { CopyButton } from '../../ui/CopyButton';
import { Segments } from '../../ui/Segments';
import { Kind, NotificationSettings, Service } from '../model/settings';

interface IMessagePreviewProps {
  settings: NotificationSettings;
  service: Service;
  trans: TranslationBundle;
}

/** Preview of a message with the present rules. Its job is an example. */
export function MessagePreview({
  settings,
  service,
  trans
}: IMessagePreviewProps): React.JSX.Element {
  const [kind, setKind] = React.useState<Kind>('failed');
  const [shown, setShown] = React.useState<NoticePreview | null>(null);
  const { state } = settings;
  React.useEffect(() => {
    let isCurrent = true;
    settings.preview(kind, service).then(
      preview => isCurrent && setShown(preview),
      // The page shows the error of its own requests; an error of the example is not shown as well.
      (error: unknown) => console.warn('t9kjob: example of a message:', error)
    );
    return () => {
      isCurrent = false;
    };
  }, [settings, state, kind, service]);
  const json = shown ? JSON.stringify(shown.body, null, 2) : '';
  return (
    <div className="jp-t9k-Message">
      <h3>
        {trans.__('Example of a message')}
        <Segments<Kind>
          aria-label={trans.__('Event of the example')}
          segments={[
            { value: 'failed', label: trans.__('Failed') },
            { value: 'no_progress', label: trans.__('No progress') },
            { value: 'succeeded_late', label: trans.__('Succeeded') }
          ]}
          value={kind}
          onChange={setKind}
        />
      </h3>
      {shown && (
        <div className="jp-t9k-Message-text" data-kind={kind}>
          <strong>{shown.title}</strong> {shown.mention}
          {shown.text && <p>{shown.text}</p>}
          <small>{shown.facts.join(' · ')}</small>
          {shown.lines.length > 0 && <pre>{shown.lines.join('\n')}</pre>}
          {shown.links.length > 0 && <small>{shown.links.join(' · ')}</small>}
        </div>
      )}
      <h3>
        {trans.__('JSON of the message')}
        {shown && (
          <small>
            {trans.__('%1, without address and key', formatBytes(shown.size))}
          </small>
        )}
        {shown && (
          <CopyButton
            text={json}
            kind="link"
            label={trans.__('Copy the JSON')}
            trans={trans}
          />
        )}
      </h3>
      <pre
        className="jp-t9k-Message-json"
        tabIndex={0}
        aria-label={trans.__('JSON of the message')}
      >
        {json}
      </pre>
    </div>
  );
}
