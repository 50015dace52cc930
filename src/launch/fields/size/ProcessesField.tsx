/** Field of the number of torchrun's processes on a node. */
import * as React from 'react';
import { MAX_PROCESSES } from '../../../api/constants';
import { SegmentsField } from '../../parts/choices';
import { useLaunch, useModel } from '../../parts/context';
import { NumberField } from '../../parts/NumberField';
import { Row } from '../../parts/Row';

/** Properties of the field. */
interface IProcessesFieldProps {
  /** True if the machine has a GPU or the job requests one. */
  hasGpus: boolean;
  /** Text about the machine's size. */
  size?: string | null;
}

/** Number of processes that torchrun starts on a node; hidden if torchrun is off. */
export function ProcessesField({
  hasGpus: gpusThere,
  size = null
}: IProcessesFieldProps): React.JSX.Element | null {
  const { model, trans } = useLaunch();
  const field = '/torchrun/proc_per_node';
  const proc_per_node = useModel(
    ({ form }) => form.spec.torchrun?.proc_per_node ?? null
  );
  if (proc_per_node === null) {
    return null;
  }
  const set = (count: number | 'gpu') => {
    const { torchrun } = model.form.spec;
    const changed = torchrun && { ...torchrun, proc_per_node: count };
    model.edit({ torchrun: changed }, field);
  };
  const perGpu = proc_per_node === 'gpu';
  const hasGpus = perGpu || gpusThere;
  return (
    // The choice leaves no space on its line, so the size is shown below it.
    <Row field={field} caption={hasGpus && size}>
      {hasGpus && (
        <SegmentsField
          aria-label={trans.__('Number of processes')}
          field={field}
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
          max={MAX_PROCESSES}
          onChange={set}
        />
      )}
      {!hasGpus && size && <span className="jp-t9k-caption">{size}</span>}
    </Row>
  );
}
