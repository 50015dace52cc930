/** Factory of the sidebar's content, which is loaded on first use. */

import { JupyterFrontEnd } from '@jupyterlab/application';
import { ReactWidget } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { sweepOfKey } from './model/sidebar';
import { IMonitorModel, Monitor } from './view/Monitor';
import { IJobsModel } from '../tokens';
import '../../style/pages.css';
import { openJobMenu, openSweepMenu } from '../job/jobMenu';
import { addSweepActions } from '../job/sweepActions';

/** Create the sidebar's content. */
export function createMonitor(
  jobs: IJobsModel,
  model: IMonitorModel,
  app: JupyterFrontEnd,
  trans: TranslationBundle
): ReactWidget {
  const { commands } = app;
  addSweepActions(app, jobs, trans);
  const widget = ReactWidget.create(
    <Monitor
      jobs={jobs}
      model={model}
      run={(command, args = {}) => void commands.execute(command, args)}
      openMenu={(key, x, y) => {
        const sweep = sweepOfKey(key);
        return sweep === null
          ? openJobMenu(commands, key, x, y)
          : openSweepMenu(commands, sweep, x, y);
      }}
      trans={trans}
    />
  );
  widget.addClass('jp-t9k-View');
  widget.addClass('jp-t9k-Sidebar');
  return widget;
}
