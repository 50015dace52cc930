import type { Reporter, TestCase, TestResult } from '@playwright/test/reporter';
import { appendFileSync, mkdirSync } from 'fs';
import path from 'path';
import { stripVTControlCharacters } from 'util';

const file = path.resolve(__dirname, '../../build/reports/repeated');

/** Where it failed and why, in one line. */
function reason({ error }: TestResult): string {
  const { file: where = '', line } = error?.location ?? {};
  const words = stripVTControlCharacters(error?.message ?? 'no message');
  return `${path.basename(where)}:${line}: ${words.replace(/\s+/g, ' ').slice(0, 1000)}`;
}

/** Notes each test that is repeated after a failure; `.make/test.py` prints their names. */
export default class Repeats implements Reporter {
  onTestEnd(test: TestCase, result: TestResult): void {
    const failed = result.status === 'failed' || result.status === 'timedOut';
    if (failed && result.retry < test.retries) {
      mkdirSync(path.dirname(file), { recursive: true });
      const name = test.titlePath().filter(Boolean).join(' › ');
      appendFileSync(file, `${name}: ${reason(result)}\n`);
    }
  }
}
