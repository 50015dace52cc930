/** Factory of the sidebar's content, which is loaded on first use. */

import { ReactWidget } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import * as React from 'react';
import { IMonitorModel, Monitor } from './view/Monitor';
import { IJobsModel } from '../tokens';
import '../../style/pages.css';
import { openJobMenu } from '../job/jobMenu';

/** Create the sidebar's content. */
export function createMonitor(
  jobs: IJobsModel,
  model: IMonitorModel,
  commands: CommandRegistry,
  trans: TranslationBundle
): ReactWidget {
  const widget = ReactWidget.create(
    <Monitor
      jobs={jobs}
      model={model}
      run={(command, args = {}) => void commands.execute(command, args)}
      openMenu={(id, x, y) => openJobMenu(commands, id, x, y)}
      trans={trans}
    />
  );
  widget.addClass('jp-t9k-View');
  widget.addClass('jp-t9k-Sidebar');
  return widget;
}
