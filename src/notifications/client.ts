/** Client of the REST API of notifications. It is loaded with the page. */
import { HttpClient } from '../api/http';
import {
  Delivery,
  NoticePreview,
  Notifications,
  PreviewNotice,
  SetWebhook,
  WebhookRules
} from '../api/types';

/** A method for every route of notifications. All methods reject with `ApiError`. */
export class NotificationsClient extends HttpClient {
  /** Return the settings that the server keeps, without secrets. */
  state(): Promise<Notifications> {
    return this._get(['notifications']);
  }

  /** Replace the rules for messages. */
  saveRules(rules: WebhookRules): Promise<Notifications> {
    return this._send('PUT', ['notifications', 'rules'], { body: rules });
  }

  /** Set or change the user's own webhook. */
  setWebhook(webhook: SetWebhook): Promise<Notifications> {
    return this._send('PUT', ['notifications', 'webhook'], { body: webhook });
  }

  /** Delete the user's own webhook. */
  deleteWebhook(): Promise<null> {
    return this._send('DELETE', ['notifications', 'webhook']);
  }

  /** Send a test message, and return the answer of the service. */
  test(id: string): Promise<Delivery> {
    return this._send('POST', ['notifications', 'test'], { body: { id } });
  }

  /** Return an example of a message. */
  preview(request: PreviewNotice): Promise<NoticePreview> {
    return this._send('POST', ['notifications', 'preview'], { body: request });
  }
}
