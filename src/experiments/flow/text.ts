/** Texts of runs and artifacts in the data flow. */
import { TranslationBundle } from '@jupyterlab/translation';
import { Flow, FlowNode } from '../../api/types';
import { formatBytes } from '../../common/format';
import { neighboursOf } from './graph';

/** Return the second line of a node: the state of a run, the kind of an asset, the files of an artifact. */
export function detailOf(node: FlowNode, trans: TranslationBundle): string {
  const { found, archived, detail, suffix, files, size } = node;
  if (!found) {
    return trans.__('not found');
  }
  const text =
    files === null || size === null
      ? (detail ?? suffix)
      : trans.__(
          '%1, %2',
          trans._n('%1 file', '%1 files', files),
          formatBytes(size)
        );
  return archived ? trans.__('archived, %1', text) : text;
}

/** Return the text of a node for screen readers. */
export function nodeText(
  node: FlowNode,
  flow: Flow,
  trans: TranslationBundle
): string {
  const names: Record<FlowNode['kind'], string> = {
    run: trans._p('run of an experiment', 'Run %1', node.name),
    artifact: trans.__('Artifact %1', node.name),
    asset: trans.__('Asset %1', node.name)
  };
  const before = neighboursOf(flow, node.id, 'in').length;
  const after = neighboursOf(flow, node.id, 'out').length;
  const detail = detailOf(node, trans);
  return trans.__(
    '%1, %2; arrows in: %3, out: %4',
    names[node.kind],
    detail,
    before,
    after
  );
}

/** Return how many runs and artifacts there are: “11 runs, 14 artifacts”. */
export function countText({ nodes }: Flow, trans: TranslationBundle): string {
  const runs = nodes.filter(({ kind }) => kind === 'run').length;
  const others = nodes.length - runs;
  const runsText = trans._n('%1 run', '%1 runs', runs);
  const artifactsText = trans._n('%1 artifact', '%1 artifacts', others);
  return trans.__('%1, %2', runsText, artifactsText);
}
