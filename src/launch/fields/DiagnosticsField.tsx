/** Field for the aids that the job's processes set up to find the cause of a hang. */
import * as React from 'react';
import { Diagnostics } from '../../api/types';
import { CheckField } from '../parts/choices';
import { Row } from '../parts/Row';
import { useLaunch, useModel } from '../parts/context';

const FIELD = '/diagnostics';

/** Used for the specs in tabs that older versions saved, which have no diagnostics. */
const OFF: Diagnostics = { stacks: false, collectives: false };

/** Switches for stacks on a signal and for PyTorch's flight recorder. */
export function DiagnosticsField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const chosen = useModel(({ form }) => form.spec.diagnostics ?? OFF);
  const hasPods = useModel(({ facts }) => facts.has_pods);
  return (
    <Row
      field={FIELD}
      group
      caption={
        hasPods && (chosen.stacks || chosen.collectives)
          ? trans.__(
              'Adds variables, and a folder in .t9kjob/diagnostics of the volume to PYTHONPATH.'
            )
          : trans.__('Shown in the job’s Stacks tab when the job hangs.')
      }
    >
      <div className="jp-t9k-Launch-checkList">
        <CheckField
          field={FIELD}
          checked={chosen.stacks}
          onChange={stacks =>
            model.edit({ diagnostics: { ...chosen, stacks } }, FIELD)
          }
        >
          {trans.__('Stacks on a signal, where py-spy may not trace')}
        </CheckField>
        <CheckField
          field={`${FIELD}/collectives`}
          checked={chosen.collectives}
          onChange={collectives =>
            model.edit({ diagnostics: { ...chosen, collectives } }, FIELD)
          }
        >
          {trans.__('Last collectives of each rank (PyTorch flight recorder)')}
        </CheckField>
      </div>
    </Row>
  );
}
