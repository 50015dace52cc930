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

/** Decimal places of the labels of an axis at most; labels of smaller steps have an exponent. */
const MOST_DECIMALS = 4;

/** Return a value in the unit of a scale: “0.0042”, “0.42”, “18.2”, “131”. */
export function formatIn(value: number | null, scale: IScale): string {
  if (value === null) {
    return '–';
  }
  const scaled = value / scale.by;
  const size = Math.abs(scaled);
  if (size >= 100 || Number.isInteger(scaled)) {
    return scaled.toFixed(0);
  }
  return size < 0.1
    ? scaled.toPrecision(2)
    : scaled.toFixed(size >= 10 ? 1 : 2);
}

/** Return the labels of an axis, all with the decimal places that tell its values apart: “0”, “0.002”, “0.004”. */
export function formatTicks(values: readonly number[]): string[] {
  const step = Math.abs((values[1] ?? 0) - (values[0] ?? 0));
  const isExact = (digits: number): boolean =>
    values.every(
      value => Math.abs(Number(value.toFixed(digits)) - value) <= step / 100
    );
  let digits = 0;
  while (digits <= MOST_DECIMALS && !isExact(digits)) {
    digits++;
  }
  return values.map(value =>
    value === 0
      ? '0'
      : digits > MOST_DECIMALS
        ? Number(value.toPrecision(3)).toExponential()
        : value.toFixed(digits)
  );
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
