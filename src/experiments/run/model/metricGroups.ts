/** Charts of a run's metrics: metrics of equal name share a chart, and long families are folded. */

/** A metric of a chart. */
export interface IChartMetric {
  /** Full name: `val.accuracy`. */
  name: string;
  /** Type of the values: `val`; empty if the name has none. */
  type: string;
}

/** A chart of metrics that differ only in their type. */
export interface IChartOf {
  title: string;
  metrics: IChartMetric[];
}

/** Charts of a family, such as one for each class, which are folded into one line. */
export interface IFamily {
  prefix: string;
  charts: IChartOf[];
}

/** Families with more charts are folded. */
export const MOST_UNFOLDED = 6;

/** Types that TensorBoard tags have before their slash. */
const TAG_TYPES = /^(train|training|val|valid|validation|eval|test)$/i;
/** Order of types in legends; others follow by name. */
const TYPE_ORDER = ['train', 'training', 'val', 'valid', 'validation', 'eval'];

/** Split a metric's name into its type and the rest: `val.accuracy`, `val/accuracy`. */
export function splitMetric(name: string): { type: string; title: string } {
  const dot = name.indexOf('.');
  const slash = name.indexOf('/');
  if (dot > 0 && dot < name.length - 1 && (slash < 0 || dot < slash)) {
    return { type: name.slice(0, dot), title: name.slice(dot + 1) };
  }
  if (slash > 0 && TAG_TYPES.test(name.slice(0, slash))) {
    return { type: name.slice(0, slash), title: name.slice(slash + 1) };
  }
  return { type: '', title: name };
}

/** Return the types of metrics, training first. Their order selects colours and dashes. */
export function typesOf(names: readonly string[]): string[] {
  const place = (type: string): number => {
    const index = TYPE_ORDER.indexOf(type.toLowerCase());
    return index < 0 ? TYPE_ORDER.length : index;
  };
  return [...new Set(names.map(name => splitMetric(name).type))].sort(
    (a, b) => place(a) - place(b) || (a < b ? -1 : 1)
  );
}

/**
 * Return the charts of metrics: single charts, and families that are folded.
 *
 * @param names - Names of the metrics, in the order of their appearance.
 */
export function chartsOf(names: readonly string[]): {
  charts: IChartOf[];
  families: IFamily[];
} {
  const byTitle = new Map<string, IChartOf>();
  const types = typesOf(names);
  for (const name of names) {
    const { type, title } = splitMetric(name);
    const chart = byTitle.get(title) ?? { title, metrics: [] };
    byTitle.set(title, chart);
    chart.metrics.push({ name, type });
  }
  const byPrefix = new Map<string, IChartOf[]>();
  for (const chart of byTitle.values()) {
    chart.metrics.sort((a, b) => types.indexOf(a.type) - types.indexOf(b.type));
    const prefix = prefixOf(chart.title);
    byPrefix.set(prefix, [...(byPrefix.get(prefix) ?? []), chart]);
  }
  const isFamily = (prefix: string): boolean =>
    prefix !== '' && (byPrefix.get(prefix)?.length ?? 0) > MOST_UNFOLDED;
  return {
    charts: [...byTitle.values()].filter(
      ({ title }) => !isFamily(prefixOf(title))
    ),
    families: [...byPrefix]
      .filter(([prefix]) => isFamily(prefix))
      .map(([prefix, charts]) => ({ prefix, charts }))
  };
}

/** Return the part of a title before its last dot or slash; empty without one. */
function prefixOf(title: string): string {
  return title.slice(
    0,
    Math.max(0, title.lastIndexOf('.'), title.lastIndexOf('/'))
  );
}
