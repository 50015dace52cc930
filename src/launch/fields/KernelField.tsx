/** Field of the job's kernel. */
import * as React from 'react';
import { Kernel } from '../../api/types';
import { useLaunch, useModel } from '../parts/context';
import { Row, useField } from '../parts/Row';
import { Select } from '../parts/choices';

/** Choice of the kernel whose Python runs the job. Unsuitable kernels are disabled and show the reason. */
export function KernelField(): React.JSX.Element | null {
  const { model, trans } = useLaunch();
  const field = useField('/runtime/kernel');
  const chosen = useModel(({ form }) => form.spec.runtime.kernel);
  const kernels = useModel(({ state }) => state.prefill?.kernels ?? []);
  const known = kernels.some(kernel => kernel.name === chosen);
  return (
    <Row field="/runtime/kernel" caption={<KernelCaption />}>
      <Select
        {...field}
        value={chosen ?? ''}
        onChange={event => {
          const kernel = event.target.value || null;
          const { runtime } = model.form.spec;
          model.edit({ runtime: { ...runtime, kernel } }, '/runtime/kernel');
        }}
      >
        {!known && (
          <option value={chosen ?? ''}>
            {chosen ?? trans.__('The default kernel')}
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

/** Path and version of the kernel's Python, and its torch. */
function KernelCaption(): React.JSX.Element | null {
  const { trans } = useLaunch();
  const kernel = useModel(model => model.kernel);
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
