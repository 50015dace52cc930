import {
  isGpu,
  poolNames,
  resourceName
} from '../../../../src/cluster/model/devices';

const pool = (product: string | null, resource = 'nvidia.com/gpu') => ({
  product,
  resource
});

describe('names of accelerators', () => {
  it.each([
    ['NVIDIA-A100-SXM4-80GB', 'A100 80 GB', 'A100'],
    ['NVIDIA-H100-80GB-HBM3', 'H100 80 GB', 'H100'],
    ['NVIDIA-H200', 'H200', 'H200'],
    ['Tesla-V100-SXM2-32GB', 'V100 32 GB', 'V100'],
    ['NVIDIA-GeForce-RTX-4090', 'RTX 4090', 'RTX 4090'],
    ['Tesla-T4-SHARED', 'T4 shared', 'T4 shared'],
    [
      'NVIDIA-A100-SXM4-80GB-MIG-1g.10gb',
      'A100 MIG 1g.10gb',
      'A100 MIG 1g.10gb'
    ],
    ['AMD_Instinct_MI300X_OAM', 'MI300X', 'MI300X'],
    ['a100', 'a100', 'a100'],
    ['NVIDIA', 'NVIDIA', 'NVIDIA']
  ])('%s is said short', (product, short, shortest) => {
    expect(poolNames([pool(product)])).toEqual([short]);
    expect(poolNames([pool(product)], true)).toEqual([shortest]);
  });

  it('are as long as it takes to tell them apart', () => {
    expect(
      poolNames(
        [
          pool('NVIDIA-A100-SXM4-80GB'),
          pool('NVIDIA-A100-PCIE-80GB'),
          pool('NVIDIA-A100-SXM4-40GB'),
          pool('NVIDIA-A100-SXM4-80GB', 'nvidia.com/mig-1g.10gb'),
          pool('NVIDIA-L4')
        ],
        true
      )
    ).toEqual([
      'A100 SXM4 80 GB',
      'A100 PCIE 80 GB',
      'A100 40 GB',
      'A100 MIG 1g.10gb',
      'L4'
    ]);
    expect(poolNames([pool('X'), pool('X', 'x.io/gpu-mem')])).toEqual([
      'X (nvidia.com/gpu)',
      'X (x.io/gpu-mem)'
    ]);
  });

  it('are slices of a product', () => {
    const slice = pool('NVIDIA-A100-SXM4-80GB', 'nvidia.com/mig-1g.10gb');
    expect(poolNames([slice])).toEqual(['A100 MIG 1g.10gb']);
  });

  it.each([
    ['nvidia.com/gpu', 'NVIDIA GPU'],
    ['nvidia.com/gpu.shared', 'NVIDIA GPU shared'],
    ['nvidia.com/mig-3g.40gb', 'MIG 3g.40gb'],
    ['amd.com/gpu', 'AMD GPU'],
    ['hygon.com/dcu', 'Hygon DCU'],
    ['huawei.com/Ascend910', 'Huawei Ascend910'],
    ['volcano.sh/vgpu-number', 'Volcano vGPU number'],
    ['gpu.intel.com/xpu', 'Intel XPU'],
    ['gpu', 'GPU']
  ])('%s without a product', (resource, name) => {
    expect(poolNames([pool(null, resource)])).toEqual([name]);
    expect(resourceName(resource)).toBe(name);
  });

  it('are GPUs or not', () => {
    const names = ['nvidia.com/gpu', 'nvidia.com/mig-1g.5gb', 'hygon.com/dcu'];
    expect(names.map(isGpu)).toEqual([true, true, false]);
  });
});
