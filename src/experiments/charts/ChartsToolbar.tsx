/** Controls that all charts of a view share. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Segments } from '../../ui/Segments';
import { XAxis } from '../types';
import { ILook } from './drawing';
import { SMOOTHED_FROM } from './lines';

/** Greatest weight of the past in smoothed curves. */
const MOST_SMOOTHING = 0.99;

interface IChartsToolbarProps {
  look: ILook;
  setLook(look: ILook): void;
  asTable: boolean;
  setAsTable(asTable: boolean): void;
  /** Controls before the common ones. */
  before?: React.ReactNode;
  trans: TranslationBundle;
}

/** Choice of the x axis, smoothing, log scale, and charts or tables. */
export function ChartsToolbar(props: IChartsToolbarProps): React.JSX.Element {
  const { look, setLook, trans } = props;
  return (
    <div className="jp-t9k-ChartsToolbar">
      {props.before}
      <span className="jp-t9k-ChartsToolbar-group">
        <span aria-hidden>{trans.__('x axis')}</span>
        <Segments<XAxis>
          aria-label={trans.__('x axis')}
          segments={[
            { value: 'step', label: trans.__('Step') },
            { value: 'epoch', label: trans.__('Epoch') },
            { value: 'time', label: trans.__('Time') }
          ]}
          value={look.x}
          onChange={x => setLook({ ...look, x })}
        />
      </span>
      <label
        className="jp-t9k-ChartsToolbar-group"
        title={trans.__(
          'Weight of the past, from 0 to 0.99. Curves with fewer than %1 values are not smoothed.',
          SMOOTHED_FROM
        )}
      >
        {trans.__('Smoothing')}
        <input
          type="number"
          min={0}
          max={MOST_SMOOTHING}
          step={0.1}
          value={look.smoothing}
          onChange={({ target }) => {
            const weight = target.valueAsNumber;
            setLook({
              ...look,
              smoothing: Number.isNaN(weight)
                ? 0
                : Math.min(MOST_SMOOTHING, Math.max(0, weight))
            });
          }}
        />
      </label>
      <label className="jp-t9k-ChartsToolbar-group">
        <input
          type="checkbox"
          checked={look.log}
          onChange={({ target }) => setLook({ ...look, log: target.checked })}
        />
        {trans.__('Log scale')}
      </label>
      <span className="jp-t9k-ChartsToolbar-space" />
      <Segments<'charts' | 'table'>
        aria-label={trans.__('Show as')}
        segments={[
          { value: 'charts', label: trans.__('Charts') },
          { value: 'table', label: trans.__('Table') }
        ]}
        value={props.asTable ? 'table' : 'charts'}
        onChange={value => props.setAsTable(value === 'table')}
      />
    </div>
  );
}
