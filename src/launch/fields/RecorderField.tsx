/** Checkbox that puts the recorder on the PYTHONPATH of a job whose script imports it. */
import * as React from 'react';
import { hasRecorder, withRecorder } from '../content/recorder';
import { CheckField } from '../parts/choices';
import { useLaunch, useModel } from '../parts/context';

const FIELD = '/env/recorder';

/** Checkbox for the recorder; nothing if the script does not import it or the kernel has it. */
export function RecorderField(): React.JSX.Element | null {
  const { model, trans, prefix } = useLaunch();
  const offer = useModel(({ state }) => state.prefill?.recorder ?? null);
  const env = useModel(({ form }) => form.env);
  if (offer === null) {
    return null;
  }
  const { folder, module } = offer;
  const fromSecret = env.some(row => row.name === 'PYTHONPATH' && row.secret);
  return (
    <div className="jp-t9k-Launch-line jp-t9k-Launch-wrap">
      <CheckField
        field={FIELD}
        checked={hasRecorder(env, folder)}
        disabled={fromSecret}
        onChange={wanted => model.setEnv(withRecorder(env, folder, wanted))}
      >
        {trans.__('Add the recorder to PYTHONPATH')}
      </CheckField>
      <span id={`${prefix}${FIELD}-caption`} className="jp-t9k-caption">
        {trans.__('the script imports %1', module)}
      </span>
    </div>
  );
}
