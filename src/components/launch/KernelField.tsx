import * as React from 'react';
import { Kernel } from '../../api/types';
import { useLaunch } from './context';
import { Row, Select, useField } from './fields';

/** The kernel whose Python runs the job; those that can't are there with the reason. */
export function KernelField(): React.JSX.Element | null {
  const { model, trans } = useLaunch();
  const field = useField('/runtime/kernel');
  const { runtime } = model.form.spec;
  const kernels = model.state.prefill?.kernels ?? [];
  const known = kernels.some(kernel => kernel.name === runtime.kernel);
  return (
    <Row field="/runtime/kernel" caption={<KernelCaption />}>
      <Select
        {...field}
        value={runtime.kernel ?? ''}
        onChange={event =>
          model.edit(
            { runtime: { ...runtime, kernel: event.target.value || null } },
            '/runtime/kernel'
          )
        }
      >
        {!known && (
          <option value={runtime.kernel ?? ''}>
            {runtime.kernel ?? trans.__('The default kernel')}
          </option>
        )}
        {kernels.map(({ name, display_name, enabled, reason }) => (
          <option key={name} value={name} disabled={!enabled}>
            {reason && !enabled ? `${display_name} – ${reason}` : display_name}
          </option>
        ))}
      </Select>
    </Row>
  );
}

function KernelCaption(): React.JSX.Element | null {
  const { model, trans } = useLaunch();
  const { kernel } = model;
  if (!kernel?.python) {
    return null;
  }
  const torch = describeTorch(kernel);
  return (
    <>
      {kernel.python} {kernel.python_version}
      {torch && ` · ${torch}`}
    </>
  );

  function describeTorch({ torch }: Kernel): string | null {
    if (!torch?.version) {
      return torch && trans.__('no torch');
    }
    const version = torch.version.split('+')[0]; // 2.6.0+cpu
    return torch.devices
      ? trans._n(
          'torch %2, sees %1 GPU',
          'torch %2, sees %1 GPUs',
          torch.devices,
          version
        )
      : trans.__('torch %1 (CPU)', version);
  }
}
