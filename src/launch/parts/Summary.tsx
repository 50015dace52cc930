import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { LaunchModel } from '../model/launch';
import { useLaunch, useModel } from './context';

/** Puts what a folded part of the form contains on one line. */
export type Summary = (model: LaunchModel, trans: TranslationBundle) => string;

/** Shows a summary. A component of its own, so that a change of the text does not draw the fields of the group. */
export function SummaryText({
  of: summary
}: {
  of: Summary;
}): React.JSX.Element {
  const { trans } = useLaunch();
  const text = useModel(model => summary(model, trans));
  return (
    <span className="jp-t9k-Launch-summary jp-t9k-secondary" title={text}>
      {text}
    </span>
  );
}
