import type { Reporter, TestCase, TestResult } from '@playwright/test/reporter';
import { appendFileSync, mkdirSync } from 'fs';
import path from 'path';

const file = path.resolve(__dirname, '../../build/reports/repeated');

/** Notes each test that is repeated after a failure; `.make/test.py` prints their names. */
export default class Repeats implements Reporter {
  onTestEnd(test: TestCase, result: TestResult): void {
    const failed = result.status === 'failed' || result.status === 'timedOut';
    if (failed && result.retry < test.retries) {
      mkdirSync(path.dirname(file), { recursive: true });
      appendFileSync(file, `${test.titlePath().filter(Boolean).join(' › ')}\n`);
    }
  }
}
