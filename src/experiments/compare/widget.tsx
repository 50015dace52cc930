/** Widget of a comparison's page. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { PageWidget } from '../../shell/pageWidget';
import { IRunLab } from '../run/pageLab';
import { CompareModel } from './model';
import { CompareView } from './CompareView';
import '../../../style/pages.css';
import '../../../style/experiments/pages.css';

/** Content of a comparison's tab. */
export class CompareWidget extends PageWidget<CompareModel> {
  constructor(
    model: CompareModel,
    lab: Omit<IRunLab, 'close'>,
    private readonly _trans: TranslationBundle
  ) {
    const count = model.ids.length;
    super(model, {
      className: 'jp-t9k-CompareTab',
      label: _trans._n('Compare %1 run', 'Compare %1 runs', count)
    });
    this._lab = { ...lab, close: () => this.parent?.dispose() };
  }

  protected override render(): React.JSX.Element {
    return (
      <CompareView model={this.model} lab={this._lab} trans={this._trans} />
    );
  }

  private readonly _lab: IRunLab;
}
