/** Fields that restrict the nodes of the job's replicas. */
import { TranslationBundle } from '@jupyterlab/translation';
import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { JobSpec } from '../../api/types';
import { IconButton, LinkButton } from '../../ui/Buttons';
import { useFixed, useLaunch, useModel } from '../parts/context';
import { Row, useField } from '../parts/Row';
import { Select } from '../parts/choices';
import { TextField } from '../parts/TextField';
import { Fold } from '../parts/groups/Fold';
import { IFolding } from '../parts/groups/Group';
import { PairsField } from '../parts/PairsField';

type Scheduling = JobSpec['scheduling'];
type Toleration = Scheduling['tolerations'][number];

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Fold “Placement” of the group “Where”: node labels, tolerations, priority class and scheduler. */
export function PlacementFields({
  folding
}: {
  folding: IFolding;
}): React.JSX.Element {
  const { model, trans } = useLaunch();
  return (
    <Fold
      name="placement"
      title={trans.__('Placement')}
      summary={({ form: { spec, nodeSelector } }) =>
        describePlacement(spec.scheduling, nodeSelector.length, trans)
      }
      folding={folding}
    >
      <PairsField
        field="/scheduling/node_selector"
        read={({ form }) => form.nodeSelector}
        onChange={rows => model.setNodeSelector(rows)}
        add={trans.__('Add label')}
        caption={trans.__('Only nodes that have all of these labels.')}
      />
      <TolerationsField />
      <NamedField name="priority_class" placeholder={trans.__('none')} />
      <NamedField
        name="scheduler"
        placeholder={trans.__('the cluster’s own')}
      />
    </Fold>
  );
}

/** Field of the priority class or the scheduler. */
function NamedField({
  name,
  placeholder
}: {
  name: 'priority_class' | 'scheduler';
  placeholder: string;
}): React.JSX.Element {
  const { model } = useLaunch();
  const field = `/scheduling/${name}`;
  const value = useModel(({ form }) => form.spec.scheduling[name] ?? '');
  return (
    <Row field={field}>
      <TextField
        code
        field={field}
        value={value}
        placeholder={placeholder}
        onChange={text => {
          const { scheduling } = model.form.spec;
          const changed = { ...scheduling, [name]: text.trim() || null };
          model.edit({ scheduling: changed }, field);
        }}
      />
    </Row>
  );
}

/** Rows of the taints that the replicas tolerate. */
function TolerationsField(): React.JSX.Element {
  const { model, trans, reveal } = useLaunch();
  const field = '/scheduling/tolerations';
  const rows = useModel(({ form }) => form.spec.scheduling.tolerations);
  const isFixed = useFixed(field) !== null;
  const set = (tolerations: Toleration[], index: number) => {
    const { scheduling } = model.form.spec;
    model.edit(
      { scheduling: { ...scheduling, tolerations } },
      `${field}/${index}`
    );
  };
  const change = (index: number, changes: Toleration) =>
    set(
      rows.map((row, i) => (i === index ? { ...row, ...changes } : row)),
      index
    );
  return (
    <Row
      field={field}
      group
      others={rows.map((_, index) => `${field}/${index}`)}
    >
      <div className="jp-t9k-Launch-pairs">
        {rows.map((row, index) => (
          <TolerationRow
            key={index}
            row={row}
            field={`${field}/${index}`}
            onChange={changes => change(index, changes)}
            onRemove={() => {
              set(
                rows.filter((_, i) => i !== index),
                index
              );
              reveal(index ? `${field}/${index - 1}` : field);
            }}
          />
        ))}
        {!isFixed && (
          <LinkButton
            data-field={field}
            onClick={() => {
              set([...rows, { key: '', operator: 'Exists' }], rows.length);
              reveal(`${field}/${rows.length}`);
            }}
          >
            {trans.__('Add taint')}
          </LinkButton>
        )}
      </div>
    </Row>
  );
}

function TolerationRow({
  row,
  field,
  onChange,
  onRemove
}: {
  row: Toleration;
  field: string;
  onChange(changes: Toleration): void;
  onRemove(): void;
}): React.JSX.Element {
  const { trans } = useLaunch();
  const isFixed = useFixed(field) !== null;
  const text = (value: unknown): string =>
    typeof value === 'string' ? value : '';
  return (
    <div className="jp-t9k-Launch-line">
      <TextField
        code
        field={field}
        value={text(row.key)}
        aria-label={trans.__('Taint')}
        placeholder={
          row.key === undefined ? trans.__('every taint') : trans.__('taint')
        }
        onChange={key => onChange({ key })}
      />
      <span>=</span>
      <TextField
        code
        field={`${field}/value`}
        value={text(row.value)}
        aria-label={trans.__('Value of the taint')}
        placeholder={trans.__('any value')}
        onChange={value =>
          onChange(
            value
              ? { operator: 'Equal', value }
              : { operator: 'Exists', value: undefined }
          )
        }
      />
      <Select
        {...useField(`${field}/effect`)}
        aria-label={trans.__('Effect of the taint')}
        value={text(row.effect)}
        onChange={event =>
          onChange({ effect: event.target.value || undefined })
        }
      >
        <option value="">{trans.__('every effect')}</option>
        {EFFECTS.map(effect => (
          <option key={effect} value={effect}>
            {effect}
          </option>
        ))}
      </Select>
      {!isFixed && (
        <IconButton
          icon={closeIcon}
          label={trans.__('Remove %1', text(row.key) || trans.__('taint'))}
          onClick={onRemove}
        />
      )}
    </div>
  );
}

/**
 * Return a one-line summary of the fields.
 *
 * @param labels - Number of node labels.
 */
function describePlacement(
  scheduling: Scheduling,
  labels: number,
  trans: TranslationBundle
): string {
  const { tolerations, priority_class, scheduler } = scheduling;
  const parts = [
    labels
      ? trans._n('nodes with %1 label', 'nodes with %1 labels', labels)
      : null,
    tolerations.length
      ? trans._n(
          'tolerates %1 taint',
          'tolerates %1 taints',
          tolerations.length
        )
      : null,
    priority_class && trans.__('priority class %1', priority_class),
    scheduler && trans.__('scheduler %1', scheduler)
  ].filter(Boolean);
  return parts.join(' · ') || trans.__('any node');
}
