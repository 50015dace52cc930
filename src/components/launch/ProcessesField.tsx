import * as React from 'react';
import { JobSpec } from '../../api/types';
import { Segments } from '../Segments';
import { useLaunch } from './context';
import { NumberField, Row } from './fields';

interface IProcessesFieldProps {
  torchrun: NonNullable<JobSpec['torchrun']>;
  /** Whether there is, or is asked for, a GPU. */
  hasGpus: boolean;
  /** What there is to share among them. */
  size?: string | null;
}

/** How many processes torchrun starts on a node. */
export function ProcessesField({
  torchrun,
  hasGpus: gpusThere,
  size = null
}: IProcessesFieldProps): React.JSX.Element {
  const { model, trans } = useLaunch();
  const field = '/torchrun/proc_per_node';
  const { proc_per_node } = torchrun;
  const set = (count: number | 'gpu') =>
    model.edit({ torchrun: { ...torchrun, proc_per_node: count } }, field);
  const perGpu = proc_per_node === 'gpu';
  const hasGpus = perGpu || gpusThere;
  return (
    // Beside the choice there is no room for the size.
    <Row field={field} caption={hasGpus && size}>
      {hasGpus && (
        <Segments
          aria-label={trans.__('How many processes')}
          data-field={perGpu ? field : undefined}
          segments={[
            { value: 'gpu', label: trans.__('One for each GPU') },
            { value: 'count', label: trans.__('A number') }
          ]}
          value={perGpu ? 'gpu' : 'count'}
          onChange={value => set(value === 'gpu' ? 'gpu' : 2)}
        />
      )}
      {proc_per_node !== 'gpu' && (
        <NumberField
          field={field}
          value={proc_per_node}
          min={1}
          max={1024}
          onChange={set}
        />
      )}
      {!hasGpus && size && <span className="jp-t9k-caption">{size}</span>}
    </Row>
  );
}
