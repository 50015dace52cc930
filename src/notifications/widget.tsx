/** Widget of the tab “Notifications”. */
import { ReactWidget } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { NotificationSettings } from './model/settings';
import { NotificationsView } from './view/NotificationsView';
import '../../style/pages.css';
import '../../style/notifications.css';

/** Content of the tab “Notifications”. */
export class NotificationsWidget extends ReactWidget {
  constructor(
    private readonly _settings: NotificationSettings,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-t9k-View');
    this.node.tabIndex = -1;
    void _settings.load();
  }

  protected override render(): React.JSX.Element {
    return <NotificationsView settings={this._settings} trans={this._trans} />;
  }
}
