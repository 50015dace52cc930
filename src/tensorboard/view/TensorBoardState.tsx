/** Text for the state of a TensorBoard. */

import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { TensorBoard } from '../../api/types';
import { Ago } from '../../ui/Time';

/** The state of a TensorBoard in two or three words. */
export function TensorBoardState({
  board,
  trans
}: {
  board: TensorBoard;
  trans: TranslationBundle;
}): React.JSX.Element {
  switch (board.status) {
    case 'starting':
      return <>{trans.__('starting…')}</>;
    case 'failed':
      return <>{trans.__('failed')}</>;
    case 'unresponsive':
      return <>{trans.__('does not answer')}</>;
    case 'idle':
      return <>{trans.__('idle')}</>;
    case 'running':
      return board.last_data_at === null ? (
        <>{trans.__('waiting')}</>
      ) : (
        <>
          {trans.__('new data')} <Ago time={board.last_data_at} trans={trans} />
        </>
      );
  }
}
