/** Accelerators as people call them, as short as they can be told apart. */
import { Pool } from '../../api/types';

type Kind = Pick<Pool, 'resource' | 'product'>;

/** How much of a product's name is said. */
type Length = 'shortest' | 'short' | 'long';

/** Who made it: there is no room for that. */
const MAKER =
  /^(nvidia|amd|intel|tesla|geforce|quadro|instinct|hygon|huawei)$/i;
/** How it is built in. */
const FORM = /^(sxm\d*|pcie?|hbm\d\w*|nvl|oam)$/i;
const MEMORY = /^(\d+)gi?b$/i;

/**
 * Names of pools by which they can be told apart: “A100 80 GB”.
 *
 * @param narrow - Even without their memory, where that tells nothing apart.
 */
export function poolNames(pools: readonly Kind[], narrow = false): string[] {
  const lengths: Length[] = narrow
    ? ['shortest', 'short', 'long']
    : ['short', 'long'];
  return pools.map(pool => {
    const isOwn = (length: Length): boolean =>
      pools.filter(other => poolName(other, length) === poolName(pool, length))
        .length === 1;
    const length = lengths.find(isOwn);
    return length
      ? poolName(pool, length)
      : `${poolName(pool, 'long')} (${pool.resource})`;
  });
}

/** A resource of a cluster: “NVIDIA GPU” for `nvidia.com/gpu`, “MIG 1g.10gb” for `nvidia.com/mig-1g.10gb`. */
export function resourceName(resource: string): string {
  const [domain, name] = split(resource);
  if (name.startsWith('mig-')) {
    return variantOf(name) ?? name;
  }
  const labels = domain.split('.');
  const maker = labels[Math.max(0, labels.length - 2)];
  const device = name
    .replace(/^(v?)([a-z]{3})(?=$|[.-])/, (_, v, kind) => v + upper(kind))
    .replace(/[.-]/g, ' ');
  const isShort = maker.length <= 3 || maker === 'nvidia';
  const said = isShort ? upper(maker) : upper(maker[0]) + maker.slice(1);
  return `${said} ${device}`.trim();
}

/** Whether people call it a GPU; else it is an accelerator. */
export function isGpu(resource: string): boolean {
  return /gpu|^mig-/i.test(split(resource)[1]);
}

function poolName({ resource, product }: Kind, length: Length): string {
  if (product === null) {
    return resourceName(resource);
  }
  const variant = variantOf(split(resource)[1]);
  const name = productName(product, length, variant?.startsWith('MIG'));
  return variant && !/\bMIG\b/.test(name) ? `${name} ${variant}` : name;
}

/** A product as labels of nodes have it, such as `NVIDIA-A100-SXM4-80GB`. */
function productName(product: string, length: Length, isPart = false): string {
  const all = product
    .split(/[-_\s]+/)
    .filter(word => word && !MAKER.test(word));
  // A slice says its own memory.
  const isSlice = isPart || all.some(word => upper(word) === 'MIG');
  const isSaid = (word: string): boolean =>
    length === 'long' ||
    !(
      FORM.test(word) ||
      (MEMORY.test(word) && (isSlice || length === 'shortest'))
    );
  const words = all
    .filter(isSaid)
    .map(word => word.replace(MEMORY, '$1 GB').replace(/^SHARED$/, 'shared'));
  return words.join(' ') || product;
}

/** What of a device it is, where that is not all of it. */
function variantOf(name: string): string | null {
  return name.startsWith('mig-')
    ? `MIG ${name.slice(4)}`
    : name.endsWith('shared')
      ? 'shared'
      : null;
}

function split(resource: string): [domain: string, name: string] {
  const at = resource.lastIndexOf('/');
  return [resource.slice(0, Math.max(0, at)), resource.slice(at + 1)];
}

function upper(text: string): string {
  return text.toUpperCase();
}
