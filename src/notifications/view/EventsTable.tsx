/** Table of events and of the places where they are shown. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Kind, KINDS, NotificationSettings, Place } from '../model/settings';

interface IEventsTableProps {
  settings: NotificationSettings;
  trans: TranslationBundle;
}

/** One row for each kind of event, one column for each place. */
export function EventsTable({
  settings,
  trans
}: IEventsTableProps): React.JSX.Element {
  const places: [Place, string][] = [
    ['lab', trans.__('In the lab')],
    ['browser', trans.__('Browser')],
    ['webhook', trans.__('Webhook')]
  ];
  return (
    <table className="jp-t9k-Events">
      <thead>
        <tr>
          <th scope="col">{trans.__('When a job of yours')}</th>
          {places.map(([place, label]) => (
            <th key={place} scope="col">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {KINDS.map(kind => (
          <tr key={kind}>
            <th scope="row">
              {kindLabel(kind, trans)}{' '}
              <Minutes kind={kind} settings={settings} trans={trans} />
            </th>
            {places.map(([place, label]) => (
              <td key={place}>
                <input
                  type="checkbox"
                  aria-label={trans.__('%1: %2', kindLabel(kind, trans), label)}
                  checked={settings.isOn(kind, place)}
                  disabled={place !== 'webhook' && !settings.hasLabSettings}
                  onChange={event => {
                    const { checked } = event.target;
                    if (place === 'browser' && checked) {
                      void askBrowser();
                    }
                    void settings.set(kind, place, checked);
                  }}
                />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Ask the browser for its permission, if the user has not answered before. */
async function askBrowser(): Promise<void> {
  if (window.Notification?.permission === 'default') {
    await window.Notification.requestPermission();
  }
}

/** Return the words of an event, which complete “When a job of yours …”. */
export function kindLabel(kind: Kind, trans: TranslationBundle): string {
  switch (kind) {
    case 'failed':
      return trans.__('fails');
    case 'no_progress':
      return trans.__('makes no progress');
    case 'paused':
      return trans.__('is paused by the platform');
    case 'succeeded_late':
      return trans.__('succeeds after more than (minutes)');
    case 'succeeded_soon':
      return trans.__('succeeds sooner');
    case 'waiting':
      return trans.__('is pending for more than (minutes)');
    case 'sweep_ended':
      return trans.__('is the last of a sweep to end');
  }
}

/** Field for the number of minutes of an event that has one. */
function Minutes({
  kind,
  settings,
  trans
}: IEventsTableProps & { kind: Kind }): React.JSX.Element | null {
  const name =
    kind === 'succeeded_late'
      ? 'late_minutes'
      : kind === 'waiting'
        ? 'waiting_minutes'
        : null;
  const saved = name ? settings.state?.rules[name] : undefined;
  const [text, setText] = React.useState<string | null>(null);
  if (name === null || saved === undefined) {
    return null;
  }
  const save = () => {
    const minutes = Number(text);
    if (text !== null && Number.isInteger(minutes) && minutes >= 1) {
      void settings.saveRules({ [name]: Math.min(minutes, 100_000) });
    }
    setText(null);
  };
  return (
    <input
      className="jp-t9k-Events-minutes"
      inputMode="numeric"
      aria-label={trans.__('Minutes: %1', kindLabel(kind, trans))}
      value={text ?? String(saved)}
      onChange={event => setText(event.target.value)}
      onBlur={save}
      onKeyDown={event => {
        if (event.key === 'Enter') {
          save();
        }
      }}
    />
  );
}
