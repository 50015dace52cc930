/** Widget of a run's page. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { PageWidget } from '../../shell/pageWidget';
import { IRunLab } from './pageLab';
import { RunModel } from './model/run';
import { RunView } from './RunView';
import { tabTitle } from '../open';
import '../../../style/pages.css';
import '../../../style/experiments/pages.css';

/** Content of a run's tab. */
export class RunWidget extends PageWidget<RunModel> {
  constructor(
    model: RunModel,
    lab: Omit<IRunLab, 'close'>,
    private readonly _trans: TranslationBundle
  ) {
    super(model, { className: 'jp-t9k-RunTab', label: _trans.__('Run') });
    this._lab = { ...lab, close: () => this.parent?.dispose() };
    model.changed.connect(this._entitle, this);
    this._entitle();
  }

  protected override render(): React.JSX.Element {
    return <RunView model={this.model} lab={this._lab} trans={this._trans} />;
  }

  private _entitle(): void {
    const { row } = this.model;
    if (row) {
      this.title.label = tabTitle(row.name);
      this.title.caption = `${row.name}\n${row.sentence}`;
    }
  }

  private readonly _lab: IRunLab;
}
