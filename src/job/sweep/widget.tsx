/** Widget of a tab that compares the jobs of a sweep. */
import { TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import * as React from 'react';
import { PageWidget } from '../../shell/pageWidget';
import { IJobsModel } from '../../tokens';
import { ResultsModel } from './results';
import { ResultsView } from './ResultsView';
import '../../../style/pages.css';

/** Content of a tab that compares the jobs of a sweep. */
export class ResultsWidget extends PageWidget<ResultsModel> {
  /**
   * @param id - Id of the sweep.
   */
  constructor(
    jobs: IJobsModel,
    id: string,
    private readonly _commands: CommandRegistry,
    private readonly _trans: TranslationBundle
  ) {
    const model = new ResultsModel(jobs, id);
    super(model, { className: 'jp-t9k-NodesTab', label: '' });
    this._entitle();
    // A restored tab may be older than the list of jobs, which has the name.
    model.changed.connect(this._entitle, this);
  }

  private _entitle(): void {
    const { jobs, id } = this.model;
    const name = jobs[0]?.sweep?.name ?? id;
    this.title.label = this._trans.__('Sweep %1', name);
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
