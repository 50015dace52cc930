/** One-line summary of a closed group or fold. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { LaunchModel } from '../../model/launch';
import { useLaunch, useModel } from '../context';

/** Returns the summary of a group or fold. */
export type Summary = (model: LaunchModel, trans: TranslationBundle) => string;

/** Text of a summary. As a separate component it renders without the fields of the group. */
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
