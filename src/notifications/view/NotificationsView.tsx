/** Page “Notifications”: where events are shown, the webhook, and an example of a message. */
import { UseSignal } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Banner } from '../../ui/Banner';
import { Button, LinkButton } from '../../ui/Buttons';
import { NotificationSettings, Service } from '../model/settings';
import { EventsTable } from './EventsTable';
import { MessagePreview } from './MessagePreview';
import { WebhookSection } from './WebhookSection';

interface INotificationsViewProps {
  settings: NotificationSettings;
  trans: TranslationBundle;
}

/** The page, which is rendered again after each change of the settings. */
export function NotificationsView({
  settings,
  trans
}: INotificationsViewProps): React.JSX.Element {
  return (
    <UseSignal signal={settings.changed}>
      {() => <Page settings={settings} trans={trans} />}
    </UseSignal>
  );
}

function Page({ settings, trans }: INotificationsViewProps): React.JSX.Element {
  const [chosen, setChosen] = React.useState<Service | null>(null);
  const service = chosen ?? settings.own?.service ?? 'slack';
  const { state, error } = settings;
  return (
    <div className="jp-t9k-Notifications">
      <div className="jp-t9k-Notifications-head">
        <h2>{trans.__('Notifications')}</h2>
        <small>
          {trans.__('About your own jobs. Changes are saved at once.')}
        </small>
        <Button onClick={() => void settings.reset()}>
          {trans.__('Restore the defaults')}
        </Button>
      </div>
      {error && error.field !== '/address' && (
        <Banner
          level="error"
          title={error.message}
          actions={
            <LinkButton onClick={() => void settings.load()}>
              {trans.__('Try again')}
            </LinkButton>
          }
        >
          {error.hint}
        </Banner>
      )}
      {state?.problems.map(problem => (
        <Banner key={problem} level="warning" title={problem} />
      ))}
      {!state && !error && (
        <p className="jp-t9k-caption" role="status">
          {trans.__('Loading…')}
        </p>
      )}
      {state && (
        <div className="jp-t9k-Notifications-columns">
          <div>
            <section aria-label={trans.__('Events')}>
              <EventsTable settings={settings} trans={trans} />
              <small>{browserState(trans)}</small>
            </section>
            <section aria-label={trans.__('Webhook')}>
              <h3>{trans.__('Webhook')}</h3>
              <WebhookSection
                settings={settings}
                service={service}
                onService={setChosen}
                trans={trans}
              />
            </section>
          </div>
          <MessagePreview settings={settings} service={service} trans={trans} />
        </div>
      )}
    </div>
  );
}

/** Return whether the browser shows notifications, as a sentence. */
function browserState(trans: TranslationBundle): string {
  switch (window.Notification?.permission) {
    case 'granted':
      return trans.__(
        'The browser shows notifications while no tab of the lab is visible.'
      );
    case 'denied':
      return trans.__(
        'The browser refuses notifications of this page. You can allow them in the settings of the browser for this address.'
      );
    case 'default':
      return trans.__(
        'The browser asks for your permission when you choose the first event for it.'
      );
    default:
      return trans.__(
        'This browser shows no notifications for this address. Most browsers require https.'
      );
  }
}
