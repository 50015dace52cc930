/** Names of the parts of a job. */
import { TranslationBundle } from '@jupyterlab/translation';
import { ResourceRow, ResourceView } from '../../api/types';
import { Curve } from './layout';
import { listed } from '../../common/format';

/** Return the name of a curve: “rank 3”, “GPU 0”, “worker-1”. */
export function nameOf(curve: Curve, trans: TranslationBundle): string {
  switch (curve.part) {
    case 'rank':
      return trans.__('rank %1', curve.number ?? 0);
    case 'gpu':
      return trans.__('GPU %1', curve.number ?? 0);
    case 'replica':
      return curve.replica ?? '';
    case 'spread':
      return trans.__('mean of the replicas, with the least and the most');
    default:
      return trans.__('sum');
  }
}

/** Return the single figures of a metric. They are those of the whole job, which curves of its parts do not show. */
export function factsOf(row: ResourceRow, trans: TranslationBundle): string[] {
  const { facts, curves } = row;
  return facts.length > 0 && curves.some(({ part }) => part !== 'job')
    ? [trans.__('whole job: %1', facts.join(' · '))]
    : facts;
}

/**
 * Return the entries of the legend: the names of the curves by the number of their colour.
 *
 * @param perReplica - True if each replica has charts of its own, which have its name.
 */
export function legendOf(
  view: ResourceView,
  perReplica: boolean,
  trans: TranslationBundle
): string[] {
  const names: string[][] = [];
  for (const row of view.rows) {
    const counts = new Map<string | null, number>();
    row.curves.forEach((curve, index) => {
      const within = counts.get(curve.replica) ?? 0;
      counts.set(curve.replica, within + 1);
      const at = perReplica ? within : index;
      names[at] ??= [];
      const name = nameOf(curve, trans);
      const isClear =
        (curve.part === 'job' && row.curves.length === 1) ||
        (curve.part === 'replica' && perReplica);
      if (!names[at].includes(name) && !isClear) {
        names[at].push(name);
      }
    });
  }
  return names.map(listed).filter(name => name !== '');
}
