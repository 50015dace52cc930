/** What the sidebar's list shows, and in which order. */
import { TranslationBundle } from '@jupyterlab/translation';
import { JobSummary } from '../../api/types';
import { isActive, stateOf } from '../../jobs/phase';
import { jobLabel } from '../../jobs/sentence';

/** The sections of the list, in their order. */
const SECTIONS = ['active', 'finished', 'deleted'] as const;

export type SectionId = (typeof SECTIONS)[number];

/** One row of the list: a section's title, or a job. */
export type Item =
  | { kind: 'section'; section: SectionId; count: number; folded: boolean }
  | { kind: 'job'; section: SectionId; job: JobSummary };

/** Jobs by section, in the order in which they are shown; deleted ones only where they are asked for. */
export interface ISections {
  active: JobSummary[];
  finished: JobSummary[];
  deleted: JobSummary[] | null;
}

/** Heights in px at the default font size: known from the data, never measured. */
export const HEIGHTS = { section: 30, job: 50, bar: 9, line: 18 };

/** Whether all words of the filter are in the job's name or in what is said of it. */
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

/** Part active jobs, newest first, from finished and deleted ones, the last to end first. */
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
 * The same rows as before, with their new content: nothing moves under a pointer.
 *
 * Rows that are gone leave; new jobs enter at the top of their section.
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

/** All rows of the list. */
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

/** A row's key: a job's id, or a section's. */
export function keyOf(item: Item): string {
  return item.kind === 'job' ? item.job.id : item.section;
}

/** Whether a job's sentence may take two lines: reasons that a person must be able to read. */
export function mayWrap(job: JobSummary): boolean {
  return ['pending', 'paused', 'failed', 'unknown'].includes(stateOf(job));
}

/** Whether a job's row has a progress bar; one that was paused begins anew. */
export function hasBar(job: JobSummary): boolean {
  return job.phase === 'Running' && job.progress?.fraction != null;
}

/**
 * Height of a row in px at the default font size.
 *
 * @param wraps - Whether a job's sentence has a second line in the list's width.
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
