/** Tab of a TensorBoard. */

import { TranslationBundle } from '@jupyterlab/translation';
import { tensorBoardIcon } from '../ui/icons';
import { DeferredWidget } from '../shell/deferred';
import { ITensorBoardSource, keyOf } from './model/source';
import type { TensorBoardWidget } from './widget';

/** Name of the toolbar in the settings and in the registry of toolbar items. */
export const TOOLBAR = 'TensorBoard';

interface ITensorBoardTabOptions {
  source: ITensorBoardSource;
  load: () => Promise<TensorBoardWidget>;
  trans: TranslationBundle;
}

/** A TensorBoard's tab. The code of its content is loaded when the first such tab opens. */
export class TensorBoardTab extends DeferredWidget<TensorBoardWidget> {
  constructor({ source, ...options }: ITensorBoardTabOptions) {
    super(options);
    this.source = source;
    this.id = `t9kjob-tensorboard-${this.key}`;
    this.node.tabIndex = -1;
    this.title.icon = tensorBoardIcon;
    this.title.label = options.trans.__('TensorBoard');
    this.title.closable = true;
  }

  readonly source: ITensorBoardSource;

  /** Identifier of the source. */
  get key(): string {
    return keyOf(this.source);
  }

  /** Id of the TensorBoard; undefined while none is running. */
  get boardId(): string | undefined {
    return this.content?.model.board?.id;
  }
}
