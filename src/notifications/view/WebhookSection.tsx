/** Settings of the user's own webhook, and the webhooks of the administrator. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Delivery, Webhook } from '../../api/types';
import { Button } from '../../ui/Buttons';
import { Segments } from '../../ui/Segments';
import { Time } from '../../ui/Time';
import { NotificationSettings, Service } from '../model/settings';
import { sentences } from '../../common/format';

interface ISectionProps {
  settings: NotificationSettings;
  service: Service;
  onService(service: Service): void;
  trans: TranslationBundle;
}

/** Form of the webhook: service, address, key, keyword, test, and the content of messages. */
export function WebhookSection({
  settings,
  service,
  onService,
  trans
}: ISectionProps): React.JSX.Element {
  const { own, state } = settings;
  const rules = state?.rules;
  return (
    <div className="jp-t9k-Webhook">
      {state?.webhooks
        .filter(({ locked }) => locked)
        .map(webhook => (
          <AdminRow key={webhook.id} {...{ webhook, settings, trans }} />
        ))}
      <Row label={trans.__('Service')} id="t9k-webhook-service">
        <Segments<Service>
          aria-labelledby="t9k-webhook-service"
          segments={serviceNames(trans)}
          value={service}
          onChange={onService}
        />
      </Row>
      <AddressForm
        key={service}
        {...{ settings, service, trans }}
        own={own?.service === service ? own : undefined}
        replaced={own && own.service !== service ? own : undefined}
      />
      {own?.service === service && (
        <Row label={trans.__('Test')}>
          <TestButton id={own.id} {...{ settings, trans }} />
          {settings.tested ? (
            <Result delivery={settings.tested} trans={trans} />
          ) : (
            own.last &&
            !settings.isTesting && <Result delivery={own.last} trans={trans} />
          )}
        </Row>
      )}
      {rules && (
        <>
          <Row label={trans.__('Mention')} id="t9k-webhook-mention">
            <TextField
              labelledBy="t9k-webhook-mention"
              value={rules.mention ?? ''}
              onSave={mention => settings.saveRules({ mention })}
            />
            <small>
              {trans.__('only if a job fails or makes no progress')}
            </small>
            {service === 'slack' && (
              <small>
                {trans.__(
                  'Slack needs a member ID, such as U024BE7LH, which is in the profile of the user.'
                )}
              </small>
            )}
          </Row>
          <Row label={trans.__('Content')}>
            <label>
              <input
                type="checkbox"
                checked={rules.lines}
                onChange={event =>
                  void settings.saveRules({ lines: event.target.checked })
                }
              />
              {trans.__('The last 5 lines before a failure')}
            </label>
            <label>
              <input
                type="checkbox"
                checked={rules.arguments}
                onChange={event =>
                  void settings.saveRules({ arguments: event.target.checked })
                }
              />
              {trans.__('Arguments, which may have names of data and paths')}
            </label>
            <small>{trans.__('Environment variables are never sent.')}</small>
          </Row>
        </>
      )}
    </div>
  );
}

/** Return the services with their names. */
function serviceNames(
  trans: TranslationBundle
): { value: Service; label: string }[] {
  return [
    { value: 'slack', label: trans.__('Slack') },
    { value: 'feishu', label: trans.__('Feishu') },
    { value: 'dingtalk', label: trans.__('DingTalk') },
    { value: 'json', label: trans.__('Other (JSON)') }
  ];
}

/** Return the name of a service. */
function serviceName(service: Service, trans: TranslationBundle): string {
  return (
    serviceNames(trans).find(({ value }) => value === service)?.label ?? service
  );
}

/** Fields for the address, key and keyword of a service. */
function AddressForm({
  settings,
  service,
  own,
  replaced,
  trans
}: {
  settings: NotificationSettings;
  service: Service;
  own: Webhook | undefined;
  /** The user's webhook of another service, which a new one replaces. */
  replaced: Webhook | undefined;
  trans: TranslationBundle;
}): React.JSX.Element {
  const [isReplacing, setReplacing] = React.useState(false);
  const [address, setAddress] = React.useState('');
  const [key, setKey] = React.useState('');
  const [keyword, setKeyword] = React.useState(own?.keyword ?? '');
  const { error } = settings;
  const isSigned = service === 'feishu' || service === 'dingtalk';
  const isOpen = !own || isReplacing;
  const save = async () => {
    const isSaved = await settings.setWebhook({
      service,
      address: address === '' ? null : address,
      key: key === '' ? null : key,
      keyword
    });
    if (isSaved) {
      setReplacing(false);
      setAddress('');
      setKey('');
    }
  };
  return (
    <>
      <Row label={trans.__('Address')} id="t9k-webhook-address">
        {!isOpen && own && (
          <div className="jp-t9k-Webhook-kept">
            <code>{trans.__('%1, ends in %2', own.host, own.ends_with)}</code>
            <Button onClick={() => setReplacing(true)}>
              {trans.__('Replace…')}
            </Button>
            <Button
              kind="destructive"
              onClick={() => void settings.deleteWebhook()}
            >
              {trans.__('Delete')}
            </Button>
          </div>
        )}
        {isOpen && (
          <form
            onSubmit={event => {
              event.preventDefault();
              void save();
            }}
          >
            <input
              type="password"
              autoComplete="off"
              aria-labelledby="t9k-webhook-address"
              aria-invalid={error?.field === '/address' || undefined}
              placeholder={trans.__('https://…')}
              value={address}
              onChange={event => setAddress(event.target.value)}
            />
            {isSigned && (
              <input
                type="password"
                autoComplete="off"
                aria-label={trans.__('Signing key')}
                placeholder={trans.__('Signing key, if the robot has one')}
                value={key}
                onChange={event => setKey(event.target.value)}
              />
            )}
            {isSigned && (
              <input
                aria-label={trans.__('Keyword')}
                placeholder={trans.__('Keyword, if the robot expects one')}
                maxLength={80}
                value={keyword}
                onChange={event => setKeyword(event.target.value)}
              />
            )}
            <Button onClick={() => void save()}>{trans.__('Save')}</Button>
            {own && (
              <Button onClick={() => setReplacing(false)}>
                {trans.__('Cancel')}
              </Button>
            )}
          </form>
        )}
        {isOpen && error && (
          <p className="jp-t9k-Webhook-error" role="alert">
            {sentences([error.message, error.hint])}
          </p>
        )}
        {replaced && (
          <small>
            {trans.__(
              'You have one webhook. A new one replaces that of %1 (%2).',
              serviceName(replaced.service, trans),
              replaced.host
            )}
          </small>
        )}
        <small>
          {trans.__(
            'The server keeps the address and never shows it again. Only the server sends messages.'
          )}
        </small>
      </Row>
    </>
  );
}

/** A webhook of the administrator, which users can only test. */
function AdminRow({
  webhook,
  settings,
  trans
}: {
  webhook: Webhook;
  settings: NotificationSettings;
  trans: TranslationBundle;
}): React.JSX.Element {
  const name = webhook.name || webhook.host;
  return (
    <Row label={trans.__('Administrator')}>
      <div className="jp-t9k-Webhook-kept">
        <code>{trans.__('%1, ends in %2', name, webhook.ends_with)}</code>
        <TestButton id={webhook.id} {...{ settings, trans }} />
      </div>
      {webhook.last && <Result delivery={webhook.last} trans={trans} />}
    </Row>
  );
}

function TestButton({
  id,
  settings,
  trans
}: {
  id: string;
  settings: NotificationSettings;
  trans: TranslationBundle;
}): React.JSX.Element {
  return (
    <Button
      disabled={settings.isTesting}
      onClick={() => void settings.test(id)}
    >
      {settings.isTesting
        ? trans.__('Sending…')
        : trans.__('Send a test message')}
    </Button>
  );
}

/** Answer of a service, with what the user can do. */
function Result({
  delivery,
  trans
}: {
  delivery: Delivery;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { ok, sentence, hint, verbatim, time } = delivery;
  return (
    <p className="jp-t9k-Webhook-result" role="status" data-ok={ok}>
      {sentences([sentence, hint])} {verbatim && <code>{verbatim}</code>}{' '}
      <Time time={time} trans={trans} />
    </p>
  );
}

/** A label with a field. */
function Row({
  label,
  id,
  children
}: {
  label: string;
  id?: string;
  children: React.ReactNode;
}): React.JSX.Element {
  return (
    <div className="jp-t9k-Webhook-row">
      <span id={id}>{label}</span>
      <div>{children}</div>
    </div>
  );
}

/** A text field that is saved when the focus leaves it. */
function TextField({
  labelledBy,
  value,
  onSave
}: {
  labelledBy: string;
  value: string;
  onSave(value: string): Promise<void>;
}): React.JSX.Element {
  const [typed, setTyped] = React.useState<string | null>(null);
  return (
    <input
      aria-labelledby={labelledBy}
      maxLength={80}
      value={typed ?? value}
      onChange={event => setTyped(event.target.value)}
      onBlur={() => {
        if (typed !== null && typed !== value) {
          void onSave(typed).then(() =>
            setTyped(now => (now === typed ? null : now))
          );
        } else {
          setTyped(null);
        }
      }}
    />
  );
}
