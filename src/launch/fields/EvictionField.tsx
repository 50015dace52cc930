/** Field for the time after an eviction. */
import * as React from 'react';
import { MOST_CONTINUATIONS } from '../../api/constants';
import { LaunchModel } from '../model/launch';
import { CheckField } from '../parts/choices';
import { useLaunch, useModel } from '../parts/context';
import { Row } from '../parts/Row';

const FIELD = '/run_policy/resume_evicted';

/** Return the name of the option that takes a checkpoint; null if the job has none that is known. */
function resumeOption({ form, state }: LaunchModel): string | null {
  const { kind } = form.spec.entrypoint;
  return kind === 'script' || kind === 'module'
    ? (state.prefill?.script.resume_option ?? null)
    : null;
}

/** Checkbox for a new job that resumes from the newest checkpoint, disabled if no option for that is known. */
export function EvictionField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const { kind, value } = useModel(({ form }) => form.spec.entrypoint);
  // Specs in tabs that older versions saved do not have the field.
  const chosen = useModel(
    ({ form }) => form.spec.run_policy.resume_evicted ?? false
  );
  const can = useModel(now => now.can('resume_evicted'));
  const option = useModel(resumeOption);
  const isFile = kind === 'script' || kind === 'module';
  const problem = !can.supported
    ? can.reason
    : option !== null
      ? null
      : isFile
        ? trans.__(
            '%1 has no option that is known to take a checkpoint.',
            value.split('/').pop() ?? value
          )
        : trans.__('Only a script can have an option that takes a checkpoint.');
  return (
    <Row
      field={FIELD}
      group
      caption={
        problem ??
        trans.__(
          'A new job, at most %1 times in a row, while your JupyterLab runs or when it starts within 24 hours. The checkpoint is given as %2.',
          MOST_CONTINUATIONS,
          option ?? ''
        )
      }
    >
      <CheckField
        field={FIELD}
        checked={chosen}
        disabled={problem !== null && !chosen}
        onChange={resume_evicted => {
          const { run_policy } = model.form.spec;
          model.edit({ run_policy: { ...run_policy, resume_evicted } }, FIELD);
        }}
      >
        {trans.__('Run again from the newest checkpoint')}
      </CheckField>
    </Row>
  );
}
