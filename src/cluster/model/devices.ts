/** Short names of accelerators, by which the accelerators of a cluster can be told apart. */
import { Pool } from '../../api/types';

/** The part of a pool that decides its name. */
type Kind = Pick<Pool, 'resource' | 'product'>;

/** Length of a product's name. `short` leaves out the form factor, `shortest` also the memory. */
type Length = 'shortest' | 'short' | 'long';

/** Manufacturers and brands, which are left out of names. */
const MAKER =
  /^(nvidia|amd|intel|tesla|geforce|quadro|instinct|hygon|huawei)$/i;
/** Form factors and memory types. */
const FORM = /^(sxm\d*|pcie?|hbm\d\w*|nvl|oam)$/i;
/** Memory sizes. */
const MEMORY = /^(\d+)gi?b$/i;

/**
 * Return short names by which pools can be told apart, such as “A100 80 GB”.
 *
 * @param pools - The pools.
 * @param narrow - True to leave out the memory if the names differ without it.
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

/**
 * Return the name of a resource: “NVIDIA GPU” for `nvidia.com/gpu`, “MIG 1g.10gb” for
 * `nvidia.com/mig-1g.10gb`.
 */
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

/** Return true if a resource is a GPU. Other devices are called accelerators. */
export function isGpu(resource: string): boolean {
  return /gpu|^mig-/i.test(split(resource)[1]);
}

/** Return a pool's name of some length. */
function poolName({ resource, product }: Kind, length: Length): string {
  if (product === null) {
    return resourceName(resource);
  }
  const variant = variantOf(split(resource)[1]);
  const name = productName(product, length, variant?.startsWith('MIG'));
  return variant && !/\bMIG\b/.test(name) ? `${name} ${variant}` : name;
}

/**
 * Return a product's name without its manufacturer.
 *
 * @param product - Name in the labels of nodes, such as `NVIDIA-A100-SXM4-80GB`.
 * @param length - Length of the result.
 * @param isPart - True for a part (MIG) of a device.
 */
function productName(product: string, length: Length, isPart = false): string {
  const all = product
    .split(/[-_\s]+/)
    .filter(word => word && !MAKER.test(word));
  // The memory in the name is the whole device's. The name of a slice contains the slice's memory.
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

/** Return the part of a device that a resource stands for; null for a whole device. */
function variantOf(name: string): string | null {
  return name.startsWith('mig-')
    ? `MIG ${name.slice(4)}`
    : name.endsWith('shared')
      ? 'shared'
      : null;
}

/** Split a resource's name at its last slash. */
function split(resource: string): [domain: string, name: string] {
  const at = resource.lastIndexOf('/');
  return [resource.slice(0, Math.max(0, at)), resource.slice(at + 1)];
}

function upper(text: string): string {
  return text.toUpperCase();
}
