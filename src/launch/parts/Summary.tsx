import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { LaunchModel } from '../model/launch';
import { useLaunch, useModel } from './context';

/** Puts what a folded part of the form contains on one line. */
export type Summary = (model: LaunchModel, trans: TranslationBundle) => string;

/** A part of its own, so that a change of it does not draw the fields of the group. */
export function SummaryText({ of: summary }: { of: Summary }): React.ReactNode {
  const { trans } = useLaunch();
  return useModel(model => summary(model, trans));
}
