/** Values of metrics in the units of their charts. */
import { TranslationBundle } from '@jupyterlab/translation';
import { ResourceRow } from '../../api/types';
import { formatBytes, formatMemory } from '../../common/format';

/** Unit of a metric. */
export type Unit = ResourceRow['unit'];

/** Unit in which the values of a row are shown. */
export interface IScale {
  /** Divisor of the values. */
  by: number;
  /** Name of the unit: “GiB”, “MB/s”, “cores”, “%”. */
  name: string;
}

const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
const DECIMAL = ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s'];

/** Return the scale that suits the largest value of a row. */
export function scaleOf(
  unit: Unit,
  most: number,
  trans: TranslationBundle
): IScale {
  const step = unit === 'bytes' ? 1024 : 1000;
  const names = unit === 'bytes' ? BINARY : DECIMAL;
  switch (unit) {
    case 'percent':
      return { by: 1, name: '%' };
    case 'cores':
      return { by: 1, name: trans.__('cores') };
    case 'watts':
      return { by: 1, name: 'W' };
    default: {
      let index = 0;
      while (most >= step ** (index + 1) && index < names.length - 1) {
        index++;
      }
      return { by: step ** index, name: names[index] };
    }
  }
}

/** Return a value in the unit of a scale: “0.42”, “18.2”, “131”. */
export function formatIn(value: number | null, scale: IScale): string {
  if (value === null) {
    return '–';
  }
  const scaled = value / scale.by;
  const size = Math.abs(scaled);
  return size >= 100 || Number.isInteger(scaled)
    ? scaled.toFixed(0)
    : scaled.toFixed(size >= 10 ? 1 : 2);
}

/** Return a value with its own unit: “131 GiB”. */
export function formatWithUnit(
  value: number,
  unit: Unit,
  trans: TranslationBundle
): string {
  switch (unit) {
    case 'bytes':
      return formatMemory(value);
    case 'bytes_per_second':
      return trans.__('%1/s', formatBytes(value));
    default: {
      const scale = scaleOf(unit, value, trans);
      return `${formatIn(value, scale)} ${scale.name}`;
    }
  }
}
