/** Widget of a tab that compares the jobs of a sweep. */
import { ReactWidget } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { Message } from '@lumino/messaging';
import * as React from 'react';
import { jobIcon } from '../../ui/icons';
import { IJobsModel } from '../../tokens';
import { ResultsModel } from './results';
import { ResultsView } from './ResultsView';
import '../../../style/pages.css';

/** Content of a tab that compares the jobs of a sweep. */
export class ResultsWidget extends ReactWidget {
  /**
   * @param id - Id of the sweep.
   */
  constructor(
    jobs: IJobsModel,
    id: string,
    private readonly _commands: CommandRegistry,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.model = new ResultsModel(jobs, id);
    const name = this.model.jobs[0]?.sweep?.name ?? id;
    this.id = `t9kjob-sweep-${id}`;
    this.addClass('jp-t9k-View');
    this.addClass('jp-t9k-NodesTab');
    this.node.tabIndex = -1;
    this.title.icon = jobIcon;
    this.title.label = _trans.__('Sweep %1', name);
    this.title.closable = true;
  }

  readonly model: ResultsModel;

  override dispose(): void {
    if (!this.isDisposed) {
      super.dispose();
      this.model.dispose();
    }
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this.model.isVisible = this.isVisible;
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.model.isVisible = true;
  }

  protected override onBeforeHide(message: Message): void {
    super.onBeforeHide(message);
    this.model.isVisible = false;
  }

  protected override render(): React.JSX.Element {
    return (
      <ResultsView
        model={this.model}
        run={(command, args) => void this._commands.execute(command, args)}
        trans={this._trans}
      />
    );
  }
}
