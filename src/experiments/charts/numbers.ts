/** Numbers of metrics as text. */
import { formatCount, formatMetric } from '../../common/format';
import { JsonNumber, Scalar } from '../types';

/** Text of a value that does not exist. */
export const NO_VALUE = '–';

const WORDS: Record<string, string> = { nan: 'NaN', inf: '∞', '-inf': '−∞' };

/** Return a value as a number; null if the value is no finite number. */
export function finite(value: JsonNumber | null | undefined): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/**
 * Return a value of a metric with four significant digits: “0.9874”, “1.78e-5”, “3 661”.
 *
 * @param value - The value; null or undefined gives a dash.
 */
export function formatValue(value: JsonNumber | null | undefined): string {
  if (value == null) {
    return NO_VALUE;
  }
  if (typeof value === 'string') {
    return WORDS[value] ?? value;
  }
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e7) {
    return value < 0 ? `-${formatCount(size)}` : formatCount(size);
  }
  if (size >= 1e6) {
    return Number(value.toPrecision(4)).toExponential().replace('e+', 'e');
  }
  return size >= 1000 ? formatValue(Math.round(value)) : formatMetric(value);
}

/** Return the number of a parameter with up to six digits: the shorter of “0.001” and “1e-3”. */
export function formatParameter(value: number): string {
  if (Number.isInteger(value)) {
    return String(value);
  }
  const plain = String(Number(value.toPrecision(6)));
  const short = Number(value.toPrecision(6)).toExponential();
  return short.length < plain.length ? short.replace('e+', 'e') : plain;
}

/** Return a parameter as text. Numbers keep all their digits. */
export function formatScalar(value: Scalar | undefined): string {
  if (value === undefined) {
    return NO_VALUE;
  }
  return value === null ? 'null' : String(value);
}
