/** Content of the sidebar's list: sections, order, filter and row heights. */
import { TranslationBundle } from '@jupyterlab/translation';
import { JobSummary } from '../../api/types';
import { hasBar, iconStateOf, isActive } from '../../jobs/phase';
import { stateCounts } from '../../jobs/stateCounts';
import { jobLabel } from '../../jobs/sentence';
import { compareMembers } from '../../jobs/sweepOrder';

/** The sections of the list in the order of display. */
const SECTIONS = ['active', 'finished', 'deleted'] as const;

/** Id of a section. */
export type SectionId = (typeof SECTIONS)[number];

/** Title of a sweep in a section, with all shown jobs of the sweep. */
export interface ISweepItem {
  kind: 'sweep';
  section: SectionId;
  /** Id of the sweep. */
  id: string;
  name: string;
  jobs: readonly JobSummary[];
  folded: boolean;
  position: number;
  count: number;
}

/**
 * A row of the list: the title of a section or of a sweep, or a job.
 *
 * `position` (from 1) and `count` are those among the rows of the same level.
 */
export type Item =
  | { kind: 'section'; section: SectionId; count: number; folded: boolean }
  | ISweepItem
  | {
      kind: 'job';
      section: SectionId;
      job: JobSummary;
      /** Level of the row in the tree: 2 in a section, 3 in a sweep. */
      level: 2 | 3;
      position: number;
      count: number;
    };

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
 * @param location - Text for the job's location and owner.
 */
export function matches(
  job: JobSummary,
  filter: string,
  trans: TranslationBundle,
  location = ''
): boolean {
  const text = [
    job.name,
    jobLabel(job, trans),
    job.reason?.sentence ?? '',
    location
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
  // A sweep stays together: all its jobs count as active while one is.
  const active = new Set(
    jobs.filter(isActive).flatMap(({ sweep }) => sweep?.id ?? [])
  );
  const counts = (job: JobSummary): boolean =>
    isActive(job) || (job.sweep !== null && active.has(job.sweep.id));
  return {
    active: jobs.filter(counts),
    finished: jobs.filter(job => !counts(job)).sort(byEnd),
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
export function keepOrder(before: ISections, now: ISections): ISections {
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
  return joinSweeps({
    active: [...now.active.filter(isNew), ...active],
    finished: [...now.finished.filter(isNew), ...finished],
    deleted: now.deleted
  });
}

/**
 * Return the sections with each sweep in one of them: among the active jobs if one of its jobs is there.
 *
 * The retried job of a finished sweep is new and active, while the held order keeps the other jobs finished.
 */
function joinSweeps(sections: ISections): ISections {
  const active = new Set(
    sections.active.flatMap(({ sweep }) => sweep?.id ?? [])
  );
  const joins = ({ sweep }: JobSummary): boolean =>
    sweep !== null && active.has(sweep.id);
  return {
    active: [...sections.active, ...sections.finished.filter(joins)],
    finished: sections.finished.filter(job => !joins(job)),
    deleted: sections.deleted
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
    return isFolded ? [head] : [head, ...rowsOf(section, jobs, folded)];
  });
}

/** Return the rows of a section. A sweep has a title, below which its jobs are sorted by their number. */
function rowsOf(
  section: SectionId,
  jobs: readonly JobSummary[],
  folded: ReadonlySet<string>
): Item[] {
  const sweeps = new Map<string, JobSummary[]>();
  for (const job of jobs) {
    if (job.sweep !== null) {
      const { id } = job.sweep;
      sweeps.set(id, [...(sweeps.get(id) ?? []), job]);
    }
  }
  const tops = jobs.filter(
    job => job.sweep === null || sweeps.get(job.sweep.id)?.[0] === job
  );
  return tops.flatMap<Item>((job, index) => {
    const place = { section, position: index + 1, count: tops.length };
    if (job.sweep === null) {
      return [{ kind: 'job', job, level: 2, ...place }];
    }
    const { id, name } = job.sweep;
    const members = [...(sweeps.get(id) ?? [])].sort(compareMembers);
    const isFolded = folded.has(sweepKey(id, section));
    const head: Item = {
      ...{ kind: 'sweep', id, name, jobs: members, folded: isFolded },
      ...place
    };
    const rows = members.map<Item>((member, at) => ({
      ...{ kind: 'job', section, job: member, level: 3 },
      ...{ position: at + 1, count: members.length }
    }));
    return isFolded ? [head] : [head, ...rows];
  });
}

/**
 * Return the key of the title of a sweep, under which it is also folded. The deleted jobs of a sweep have a title of
 * their own.
 */
function sweepKey(id: string, section: SectionId): string {
  return section === 'deleted' ? `deleted-sweep:${id}` : `sweep:${id}`;
}

/** Return the id of the sweep to whose title a key belongs; null for the key of another row. */
export function sweepOfKey(key: string): string | null {
  return /^(?:deleted-)?sweep:(.*)$/.exec(key)?.[1] ?? null;
}

/** Return the states of a sweep's jobs with their counts: “6 jobs · 1 failed · 2 running”. */
export function sweepText(
  jobs: readonly JobSummary[],
  trans: TranslationBundle
): string {
  const counts = stateCounts(jobs, trans);
  return [trans._n('%1 job', '%1 jobs', jobs.length), ...counts].join(' · ');
}

/** Return the key of a row: the id of the job or of the section. */
export function keyOf(item: Item): string {
  switch (item.kind) {
    case 'job':
      return item.job.id;
    case 'sweep':
      return sweepKey(item.id, item.section);
    case 'section':
      return item.section;
  }
}

/** Return true if a job's sentence may take two lines, because its reason must be readable. */
export function mayWrap(job: JobSummary): boolean {
  return ['pending', 'stalled', 'paused', 'failed', 'unknown'].includes(
    iconStateOf(job)
  );
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
  if (item.kind !== 'job') {
    return HEIGHTS.section;
  }
  const { job } = item;
  return (
    HEIGHTS.job +
    (hasBar(job) ? HEIGHTS.bar : 0) +
    (wraps(job) ? HEIGHTS.line : 0)
  );
}
