/** Texts about queues, for the choice of a queue. */
import { TranslationBundle } from '@jupyterlab/translation';
import { Queue, QuotaLine } from '../../api/types';
import { leftOf } from './capacity';
import { resourceLabel } from './capacityText';
import { isGpu } from './devices';
import { formatAmount, formatDuration, formatFree } from '../../common/format';

/**
 * Return a queue's description, such as “default · 2 of 8 GPUs free · priority 60 · at most 2 h 45 min · 3
 * jobs wait”, or the reason why the queue accepts no jobs.
 *
 * @param queue - The queue.
 * @param resource - The job's accelerator, whose quota is shown; null for none.
 */
export function queueText(
  queue: Queue,
  resource: string | null,
  trans: TranslationBundle
): string {
  const line = lineOf(queue, resource);
  const { open, priority, max_duration, waiting } = queue;
  return [
    queue.default ? trans.__('default') : null,
    queue.reason,
    open && line ? freeText(line, trans) : null,
    open && priority !== null ? trans.__('priority %1', priority) : null,
    open && max_duration !== null
      ? trans.__('at most %1', formatDuration(max_duration, trans))
      : null,
    open && waiting ? trans._n('%1 job waits', '%1 jobs wait', waiting) : null
  ]
    .filter(Boolean)
    .join(' · ');
}

/** Return the quota to show: of the job's accelerator, else of any GPU, else of CPU. */
function lineOf(queue: Queue, resource: string | null): QuotaLine | null {
  const of = (fits: (name: string) => boolean): QuotaLine | undefined =>
    queue.quota.find(line => fits(line.resource));
  return (
    of(name => name === resource) ??
    of(isGpu) ??
    of(name => name === 'cpu') ??
    null
  );
}

/** Return a text about the rest of a quota, or about its limit if the usage is unknown. */
function freeText(line: QuotaLine, trans: TranslationBundle): string {
  const { resource, used, hard } = line;
  const most = formatAmount(resource, hard);
  const left = formatFree(resource, leftOf(line));
  if (resource === 'cpu') {
    return used === null
      ? trans.__('%1 CPU in all', most)
      : trans.__('%1 of %2 CPU free', left, most);
  }
  if (isGpu(resource) && resource.endsWith('/gpu')) {
    return used === null
      ? trans.__('%1 GPUs in all', most)
      : trans.__('%1 of %2 GPUs free', left, most);
  }
  const name = resourceLabel(resource, trans);
  return used === null
    ? trans.__('%1: %2 in all', name, most)
    : trans.__('%1: %2 of %3 free', name, left, most);
}
