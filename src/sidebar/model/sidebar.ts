/** Content of the sidebar's list: sections, order, filter and row heights. */
import { TranslationBundle } from '@jupyterlab/translation';
import { JobSummary } from '../../api/types';
import { isActive, stateOf } from '../../jobs/phase';
import { jobLabel } from '../../jobs/sentence';

/** The sections of the list in the order of display. */
const SECTIONS = ['active', 'finished', 'deleted'] as const;

/** Id of a section. */
export type SectionId = (typeof SECTIONS)[number];

/** A row of the list: the title of a section, or a job. */
export type Item =
  | { kind: 'section'; section: SectionId; count: number; folded: boolean }
  | { kind: 'job'; section: SectionId; job: JobSummary };

/** Jobs by section, in the order of display; `deleted` is null while deleted jobs are not shown. */
export interface ISections {
  active: JobSummary[];
  finished: JobSummary[];
  deleted: JobSummary[] | null;
}

/** Row heights in px at the default font size. They are fixed, so that no row has to be measured. */
export const HEIGHTS = { section: 30, job: 50, bar: 9, line: 18 };

/**
 * Return true if a job's texts contain every word of the filter.
 *
 * @param job - The job.
 * @param filter - Text of the filter.
 * @param trans - Translator of the job's texts.
 * @param place - Text for the job's location and owner.
 */
export function matches(
  job: JobSummary,
  filter: string,
  trans: TranslationBundle,
  place = ''
): boolean {
  const text = [
    job.name,
    jobLabel(job, trans),
    job.reason?.sentence ?? '',
    place
  ]
    .join(' ')
    .toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every(word => text.includes(word));
}

/**
 * Divide jobs into sections. Active jobs keep their order; finished and deleted jobs are sorted by
 * their end, latest first.
 *
 * @param jobs - Jobs that are not deleted, newest first.
 * @param deleted - Deleted jobs; null while they are not shown.
 */
export function sectionsOf(
  jobs: readonly JobSummary[],
  deleted: readonly JobSummary[] | null = null
): ISections {
  const end = (job: JobSummary): number => job.ended_at ?? job.created_at;
  const byEnd = (a: JobSummary, b: JobSummary): number => end(b) - end(a);
  return {
    active: jobs.filter(isActive),
    finished: jobs.filter(job => !isActive(job)).sort(byEnd),
    deleted: deleted && [...deleted].sort(byEnd)
  };
}

/**
 * Return the current jobs in the previous order, so that no row moves under the pointer.
 *
 * Jobs that no longer exist are removed. New jobs are added at the top of their section.
 *
 * @param before - The sections that are shown.
 * @param now - The current sections.
 */
export function keepPlaces(before: ISections, now: ISections): ISections {
  const jobs = new Map(
    [...now.active, ...now.finished].map(job => [job.id, job])
  );
  const known = new Set<string>();
  const stay = (section: 'active' | 'finished'): JobSummary[] =>
    before[section].flatMap(({ id }) => {
      known.add(id);
      return jobs.get(id) ?? [];
    });
  const [active, finished] = [stay('active'), stay('finished')];
  const isNew = (job: JobSummary): boolean => !known.has(job.id);
  return {
    active: [...now.active.filter(isNew), ...active],
    finished: [...now.finished.filter(isNew), ...finished],
    deleted: now.deleted
  };
}

/** Return the rows of the list; a folded section has only its title. */
export function itemsOf(
  sections: ISections,
  folded: ReadonlySet<string>
): Item[] {
  return SECTIONS.flatMap(section => {
    const jobs = sections[section];
    if (jobs === null) {
      return [];
    }
    const isFolded = folded.has(section);
    const head: Item = {
      kind: 'section',
      section,
      count: jobs.length,
      folded: isFolded
    };
    return isFolded
      ? [head]
      : [head, ...jobs.map<Item>(job => ({ kind: 'job', section, job }))];
  });
}

/** Return the key of a row: the id of the job or of the section. */
export function keyOf(item: Item): string {
  return item.kind === 'job' ? item.job.id : item.section;
}

/** Return true if a job's sentence may take two lines, because its reason must be readable. */
export function mayWrap(job: JobSummary): boolean {
  return ['pending', 'paused', 'failed', 'unknown'].includes(stateOf(job));
}

/**
 * Return true if a job's row has a progress bar. Paused and resuming jobs have none, because their
 * processes start again.
 */
export function hasBar(job: JobSummary): boolean {
  return job.phase === 'Running' && job.progress?.fraction != null;
}

/**
 * Return the height of a row in px at the default font size.
 *
 * @param item - The row.
 * @param wraps - Returns true if a job's sentence takes two lines at the list's width.
 */
export function heightOf(
  item: Item,
  wraps: (job: JobSummary) => boolean
): number {
  if (item.kind === 'section') {
    return HEIGHTS.section;
  }
  const { job } = item;
  return (
    HEIGHTS.job +
    (hasBar(job) ? HEIGHTS.bar : 0) +
    (wraps(job) ? HEIGHTS.line : 0)
  );
}
