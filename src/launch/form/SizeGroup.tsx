/** The form's group “Size”: nodes, processes and the resources of each node. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { JobSpec } from '../../api/types';
import { ClusterSize } from '../fields/size/ClusterSize';
import { useLaunch, useModel } from '../parts/context';
import { Group, IFolding } from '../parts/groups/Group';
import { LocalSize } from '../fields/size/LocalSize';
import { TorchrunFields } from '../fields/TorchrunFields';

/** Group “Size”, with different fields for engines with and without pods. */
export function SizeGroup({
  folding
}: {
  folding: IFolding;
}): React.JSX.Element {
  const { trans } = useLaunch();
  const hasPods = useModel(({ facts }) => facts.has_pods);
  const hasTorchrun = useModel(model => model.offers('torchrun'));
  return (
    <Group
      name="size"
      title={trans._p('job', 'Size')}
      summary={({ form }) => describeSize(form.spec, trans)}
      folding={folding}
    >
      {hasPods ? <ClusterSize /> : <LocalSize />}
      {hasTorchrun && <TorchrunFields />}
    </Group>
  );
}

/** Return a one-line summary of a job's size, such as “2 nodes × 4 GPUs · 8 CPU”. */
function describeSize(spec: JobSpec, trans: TranslationBundle): string {
  const [{ replicas, resources }] = spec.replica_specs;
  const { device, cpu, memory } = resources;
  const perGpu = spec.torchrun?.proc_per_node === 'gpu';
  const nodes = replicas > 1 ? trans._n('%1 node', '%1 nodes', replicas) : null;
  const gpus = device?.count
    ? trans._n('%1 GPU', '%1 GPUs', device.count)
    : null;
  const processes = !spec.torchrun
    ? trans.__('torchrun off')
    : spec.torchrun.proc_per_node === 'gpu'
      ? trans.__('one process for each GPU')
      : trans._n('%1 process', '%1 processes', spec.torchrun.proc_per_node);
  const size = [nodes, perGpu && gpus ? gpus : processes].filter(Boolean);
  return [
    size.join(' × '),
    gpus && !perGpu ? gpus : null,
    cpu.limit && trans.__('%1 CPU', cpu.limit),
    memory.limit
  ]
    .filter(Boolean)
    .join(' · ');
}
