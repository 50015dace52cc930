/** Icons of runs, artifacts and assets. */
import { LabIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import artifact from '../../../style/icons/artifact.svg';
import asset from '../../../style/icons/asset.svg';
import { JobState } from '../../api/aliases';
import { FlowNode } from '../../api/types';
import { PhaseIcon } from '../../jobs/PhaseIcon';
import { Icon } from '../../ui/Icon';

/** Icon of an artifact. */
export const artifactIcon = new LabIcon({
  name: 'jupyterlab_t9kjob:artifact',
  svgstr: artifact
});

const assetIcon = new LabIcon({
  name: 'jupyterlab_t9kjob:asset',
  svgstr: asset
});

const STATES: Record<NonNullable<FlowNode['status']>, JobState> = {
  running: 'running',
  complete: 'succeeded',
  error: 'failed',
  stale: 'unknown',
  unknown: 'unknown'
};

/** The icon of a node: the status of a run, or the kind of another node. */
export function NodeIcon({
  node
}: {
  node: Pick<FlowNode, 'kind' | 'status'>;
}): React.JSX.Element {
  if (node.kind === 'run') {
    return <PhaseIcon state={STATES[node.status ?? 'unknown']} size={14} />;
  }
  return (
    <span className="jp-t9k-Flow-icon" aria-hidden>
      <Icon
        of={node.kind === 'artifact' ? artifactIcon : assetIcon}
        size={14}
      />
    </span>
  );
}
