/** Factory of TensorBoard tabs' contents, which is loaded on first use. */

import { IThemeManager, IToolbarWidgetRegistry } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import * as React from 'react';
import { IJobsModel } from '../tokens';
import { TensorBoardModel } from './model/board';
import { ITensorBoardSource } from './model/source';
import { TOOLBAR } from './tab';
import { TOOLBAR_ITEMS } from './view/TensorBoardToolbar';
import { CreateToolbar, TensorBoardWidget } from './widget';

interface ITensorBoardPagesOptions {
  jobs: IJobsModel;
  commands: CommandRegistry;
  toolbars: IToolbarWidgetRegistry;
  createToolbar: CreateToolbar;
  themes: IThemeManager | null;
  trans: TranslationBundle;
}

/** Creates the contents of TensorBoard tabs, and registers the items of their toolbars. */
export class TensorBoardPages {
  constructor(private readonly _options: ITensorBoardPagesOptions) {
    for (const [name, Item] of Object.entries(TOOLBAR_ITEMS)) {
      _options.toolbars.addFactory<TensorBoardWidget>(
        TOOLBAR,
        name,
        ({ viewProps }) => {
          const item = ReactWidget.create(<Item {...viewProps} />);
          item.addClass(`jp-t9k-TensorBoard-${name}`);
          return item;
        }
      );
    }
  }

  /** Create the content of a tab. */
  create(source: ITensorBoardSource): TensorBoardWidget {
    const { jobs, commands, createToolbar, themes, trans } = this._options;
    return new TensorBoardWidget({
      model: new TensorBoardModel(source, jobs),
      run: (command, args) => void commands.execute(command, args),
      ...{ createToolbar, themes, trans }
    });
  }
}
