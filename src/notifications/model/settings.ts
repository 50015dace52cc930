/** Settings of notifications: those of the lab, and the rules and the webhook that the server keeps. */
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ISignal, Signal } from '@lumino/signaling';
import { ApiError, expectApiError } from '../../api/errors';
import {
  Delivery,
  Notice,
  NoticePreview,
  Notifications,
  SetWebhook,
  Webhook,
  WebhookRules
} from '../../api/types';
import { isMuted, mutingSetting } from '../../jobs/mutedNotices';
import { NotificationsClient } from '../client';

/** Kind of an event. */
export type Kind = Exclude<Notice['kind'], 'undelivered'>;
/** Place where an event is shown. */
export type Place = 'lab' | 'browser' | 'webhook';
/** Service of a webhook. */
export type Service = Webhook['service'];

/** Kinds of events in the order of the table. */
export const KINDS: readonly Kind[] = [
  'failed',
  'no_progress',
  'paused',
  'succeeded_late',
  'succeeded_soon',
  'waiting',
  'sweep_ended'
];

const SETTINGS = { lab: 'notifyInLab', browser: 'notifyInBrowser' } as const;

/** The settings, which are saved at each change. */
export class NotificationSettings {
  constructor(
    private readonly _client: NotificationsClient,
    private readonly _settings: ISettingRegistry.ISettings | null
  ) {
    _settings?.changed.connect(() => this._changed.emit());
  }

  /** Emitted after each change. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The server's part; null until it was read. */
  get state(): Notifications | null {
    return this._state;
  }

  /** Error of the last request; null if it succeeded. */
  get error(): ApiError | null {
    return this._error;
  }

  /** Result of the last test message; null before the first. */
  get tested(): Delivery | null {
    return this._tested;
  }

  /** True while a test message is sent. */
  get isTesting(): boolean {
    return this._isTesting;
  }

  /** True if the lab has settings that can be changed. */
  get hasLabSettings(): boolean {
    return this._settings !== null;
  }

  /** The user's own webhook; undefined if there is none. */
  get own(): Webhook | undefined {
    return this._state?.webhooks.find(({ locked }) => !locked);
  }

  /** Read the server's part. */
  load(): Promise<void> {
    return this._do(async () => {
      this._state = await this._client.state();
    });
  }

  /** Return true if an event of a kind is shown at a place. */
  isOn(kind: Kind, place: Place): boolean {
    return this._kindsOf(place).includes(kind);
  }

  /** Show or hide the events of a kind at a place. */
  async set(kind: Kind, place: Place, isOn: boolean): Promise<void> {
    const others = this._kindsOf(place).filter(each => each !== kind);
    const kinds = KINDS.filter(
      each => others.includes(each) || (each === kind && isOn)
    );
    if (place === 'webhook') {
      return this.saveRules({ kinds });
    }
    await this._settings?.set(SETTINGS[place], kinds);
    if (place === 'lab' && isOn) {
      const name = mutingSetting(kind);
      if (name !== null) {
        await this._settings?.remove(name);
      }
    }
  }

  /** Change some of the rules for messages. */
  async saveRules(changes: Partial<WebhookRules>): Promise<void> {
    if (!this._state) {
      return;
    }
    const rules = {
      ...this._state.rules,
      lab_address: this._client.serverSettings.baseUrl,
      ...changes
    };
    this._state = { ...this._state, rules };
    await this._do(async () => {
      this._state = await this._client.saveRules(rules);
    });
  }

  /** Set or change the user's own webhook; return true if the server has accepted it. */
  async setWebhook(webhook: SetWebhook): Promise<boolean> {
    this._tested = null;
    await this._do(async () => {
      this._state = await this._client.setWebhook(webhook);
    });
    if (!this._error && this._state?.rules.lab_address === '') {
      await this.saveRules({});
    }
    return this._error === null;
  }

  /** Delete the user's own webhook. */
  deleteWebhook(): Promise<void> {
    this._tested = null;
    return this._do(async () => {
      await this._client.deleteWebhook();
      this._state = await this._client.state();
    });
  }

  /** Send a test message to a webhook. */
  async test(id: string): Promise<void> {
    this._isTesting = true;
    this._tested = null;
    this._changed.emit();
    await this._do(async () => {
      this._tested = await this._client.test(id);
    });
    this._isTesting = false;
    this._changed.emit();
  }

  /** Return an example of a message with the present rules. */
  async preview(kind: Kind, service: Service): Promise<NoticePreview | null> {
    if (!this._state) {
      return null;
    }
    const { rules } = this._state;
    const keyword = this.own?.keyword ?? '';
    return this._client.preview({ kind, service, keyword, rules });
  }

  /** Set the defaults of the lab's part and of the rules. */
  async reset(): Promise<void> {
    for (const name of Object.values(SETTINGS)) {
      await this._settings?.remove(name);
    }
    await this._do(async () => {
      // The server has the defaults of the other rules.
      const rules = { lab_address: this._client.serverSettings.baseUrl };
      this._state = await this._client.saveRules(rules as WebhookRules);
    });
  }

  private _kindsOf(place: Place): readonly Kind[] {
    if (place === 'webhook') {
      return this._state?.rules.kinds ?? [];
    }
    const kinds = this._settings?.get(SETTINGS[place]).composite;
    const found = Array.isArray(kinds) ? (kinds as Kind[]) : [];
    return place === 'lab'
      ? found.filter(kind => !isMuted(kind, this._settings))
      : found;
  }

  private async _do(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this._error = null;
    } catch (error) {
      this._error = expectApiError(error);
    }
    this._changed.emit();
  }

  private _state: Notifications | null = null;
  private _error: ApiError | null = null;
  private _tested: Delivery | null = null;
  private _isTesting = false;
  private readonly _changed = new Signal<this, void>(this);
}
