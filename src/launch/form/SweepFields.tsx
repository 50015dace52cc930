/** Fields of a sweep: the file of rows, and the rule that stops jobs early. */
import { closeIcon, folderIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { MAX_INT32 } from '../../api/constants';
import { MedianRule } from '../../api/types';
import { NEW_RULE } from '../content/sweep';
import { optionName } from '../content/scriptOptions';
import { NumberField } from '../parts/NumberField';
import { Row, useField, useFieldId } from '../parts/Row';
import { chooseRows } from '../parts/rows';
import { TextField } from '../parts/TextField';
import { useLaunch, useModel } from '../parts/context';
import { IconButton } from '../../ui/Buttons';
import { Segments } from '../../ui/Segments';
import { listed } from '../../common/format';

const ROWS = '/sweep/rows_path';
const EXAMPLE = 'val_loss';
const METRIC = '/sweep/rule/metric';

/** The file with the values of the jobs; nothing if the form has none. */
export function RowsField(): React.JSX.Element | null {
  const { model, actions, trans } = useLaunch();
  const props = useField(ROWS);
  const path = useModel(({ sweep }) => sweep.rowsPath ?? null);
  const unknown = useModel(({ sweepJobs, scriptOptions }) => {
    const known = new Set(
      scriptOptions.flatMap(option => [optionName(option), ...option.flags])
    );
    const fields = sweepJobs.shown?.fields ?? [];
    return fields.filter(field => !field.startsWith('/') && !known.has(field));
  });
  if (path === null) {
    return null;
  }
  const caption = unknown.length
    ? trans.__('The script has no option %1.', listed(unknown))
    : trans.__('Each row is a job; the header names the options');
  return (
    <Row field={ROWS} caption={caption}>
      <input type="text" data-code {...props} readOnly value={path} />
      <IconButton
        icon={folderIcon}
        label={trans.__('Choose another file')}
        onClick={() => void chooseRows(model, actions)}
      />
      <IconButton
        icon={closeIcon}
        label={trans.__('Use no file')}
        onClick={() => model.setSweep({ rowsPath: null, leftOut: [] }, ROWS)}
      />
    </Row>
  );
}

/** The rule that stops jobs early. */
export function RuleFields(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const rule = useModel(({ sweep }) => sweep.rule ?? null);
  const id = useFieldId('/sweep/rule');
  const goal = useFieldId(METRIC);
  const set = (changes: Partial<MedianRule>, field: string): void =>
    model.setSweep({ rule: { ...NEW_RULE, ...rule, ...changes } }, field);
  return (
    <>
      <Row
        field="/sweep/rule"
        caption={trans.__(
          'The best value of a job is compared with the median of the other jobs’ averages at the same step'
        )}
        group
      >
        <Segments<'never' | 'median'>
          aria-labelledby={`${id}-label`}
          aria-describedby={`${id}-caption`}
          data-field="/sweep/rule"
          segments={[
            { value: 'never', label: trans.__('Never') },
            { value: 'median', label: trans.__('Worse than the median') }
          ]}
          value={rule === null ? 'never' : 'median'}
          onChange={value =>
            model.setSweep(
              { rule: value === 'never' ? null : NEW_RULE },
              '/sweep/rule'
            )
          }
        />
      </Row>
      {rule !== null && (
        <>
          <Row
            field={METRIC}
            caption={trans.__(
              'Name in TensorBoard or in the log. JupyterLab must run and see the events or the log.'
            )}
          >
            <TextField
              field={METRIC}
              code
              placeholder={EXAMPLE}
              value={rule.metric}
              onChange={metric => set({ metric }, METRIC)}
            />
            <Segments<MedianRule['goal']>
              aria-label={trans.__('Best value')}
              aria-describedby={`${goal}-caption`}
              segments={[
                { value: 'minimize', label: trans.__('Lower is better') },
                { value: 'maximize', label: trans.__('Higher is better') }
              ]}
              value={rule.goal}
              onChange={value => set({ goal: value }, METRIC)}
            />
          </Row>
          <Row
            field="/sweep/rule/after"
            caption={trans.__('No job is stopped before this step')}
          >
            <NumberField
              field="/sweep/rule/after"
              value={rule.after}
              min={0}
              max={MAX_INT32}
              onChange={after => set({ after }, '/sweep/rule/after')}
            />
          </Row>
          <Row
            field="/sweep/rule/least_jobs"
            caption={trans.__(
              'Number of other jobs that must have reached the step'
            )}
          >
            <NumberField
              field="/sweep/rule/least_jobs"
              value={rule.least_jobs}
              min={1}
              max={1000}
              onChange={least => {
                set({ least_jobs: least }, '/sweep/rule/least_jobs');
              }}
            />
          </Row>
        </>
      )}
    </>
  );
}
