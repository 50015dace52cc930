/** Settings of the table of jobs: filter, group, order and columns, which are saved under names. */
import { JobState } from '../../api/aliases';

/** Group of the rows; empty for none. */
export type GroupKey = '' | 'day' | 'sweep' | 'owner';

/** Time since which jobs were submitted; empty for any time. */
export type Since = '' | 'today' | 'week' | 'month';

/** Order of the rows. */
export interface IOrder {
  /** Key of a column; `default` puts problems first, then active jobs, then the newest. */
  key: string;
  down: boolean;
}

/** Settings of the table. */
export interface IJobsView {
  /** Words, or an expression. */
  filter: string;
  /** Shown states; empty for all. */
  states: readonly JobState[];
  /** Shown owners; empty for all. A job without an owner has the owner ''. */
  owners: readonly string[];
  /** True to show only the user's own jobs. */
  mine: boolean;
  /** Names of the shown engines; empty for all. */
  engines: readonly string[];
  since: Since;
  group: GroupKey;
  order: IOrder;
  /** Keys of the shown columns; null for the default. */
  columns: readonly string[] | null;
  /** True to show deleted jobs of which the record is kept. */
  deleted: boolean;
}

/** The settings at first. */
export const DEFAULT_VIEW: IJobsView = {
  filter: '',
  states: [],
  owners: [],
  mine: false,
  engines: [],
  since: '',
  group: 'day',
  order: { key: 'default', down: true },
  columns: null,
  deleted: false
};

/** Keys of the views that every table has. */
export const BUILT_IN = ['all', 'week', 'active', 'failed', 'hours'] as const;

/** Key of a view that every table has. */
export type BuiltIn = (typeof BUILT_IN)[number];

/** The views that every table has. */
export const BUILT_IN_VIEWS: Record<BuiltIn, IJobsView> = {
  all: DEFAULT_VIEW,
  week: { ...DEFAULT_VIEW, since: 'week' },
  active: {
    ...DEFAULT_VIEW,
    states: ['submitting', 'pending', 'running', 'resuming', 'paused'],
    group: ''
  },
  failed: { ...DEFAULT_VIEW, states: ['failed'], mine: true },
  hours: {
    ...DEFAULT_VIEW,
    filter: 'gpus > 0',
    group: '',
    order: { key: 'hours', down: true }
  }
};

const STATES: readonly JobState[] = [
  'submitting',
  'pending',
  'running',
  'resuming',
  'paused',
  'succeeded',
  'failed',
  'stopped',
  'unknown'
];

/** Return settings that were kept. Parts that are invalid have their default. */
export function readView(kept: unknown): IJobsView {
  const known = recordOf(kept);
  const order = recordOf(known.order);
  const texts = (value: unknown): string[] =>
    Array.isArray(value) ? value.map(String) : [];
  return {
    filter: typeof known.filter === 'string' ? known.filter : '',
    states: STATES.filter(state => texts(known.states).includes(state)),
    owners: texts(known.owners),
    mine: known.mine === true,
    engines: texts(known.engines),
    since: oneOf(known.since, ['today', 'week', 'month']) ?? '',
    group:
      known.group === ''
        ? ''
        : (oneOf(known.group, ['day', 'sweep', 'owner']) ?? DEFAULT_VIEW.group),
    order:
      typeof order.key === 'string'
        ? { key: order.key, down: order.down === true }
        : DEFAULT_VIEW.order,
    columns: Array.isArray(known.columns) ? known.columns.map(String) : null,
    deleted: known.deleted === true
  };
}

/** Return views that were saved under names. */
export function readViews(kept: unknown): Record<string, IJobsView> {
  return Object.fromEntries(
    Object.entries(recordOf(kept)).map(([name, view]) => [name, readView(view)])
  );
}

/**
 * Return the time at which a period began, in seconds since the epoch: the midnight of the user's time zone.
 *
 * @param now - Seconds since the epoch.
 */
export function beginOf(since: Exclude<Since, ''>, now: number): number {
  const days = { today: 0, week: 6, month: 29 }[since];
  const day = new Date(now * 1000);
  day.setHours(0, 0, 0, 0);
  day.setDate(day.getDate() - days);
  return day.getTime() / 1000;
}

/** Return the key of a view that the user saved. */
export function ownKey(name: string): string {
  return `own:${name}`;
}

function oneOf<Choice extends string>(
  value: unknown,
  choices: readonly Choice[]
): Choice | undefined {
  return choices.find(known => known === value);
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
