/** Details of a run or artifact beside the graph. */
import { TranslationBundle } from '@jupyterlab/translation';
import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { ArtifactDetail, Flow, FlowNode } from '../../api/types';
import { formatBytes, formatCount } from '../../common/format';
import { Button, IconButton } from '../../ui/Buttons';
import { CopyButton } from '../../ui/CopyButton';
import { ExperimentsClient } from '../client';
import { NodeList } from './FlowTable';
import { neighboursOf } from './graph';
import { NodeIcon } from './NodeIcon';
import { detailOf } from './text';

/** Files that the details show. */
const MOST_FILES = 5;

interface IFlowDetailsProps {
  flow: Flow;
  node: FlowNode;
  api: ExperimentsClient;
  /** Opens the page of a node; null if it has none. */
  open: (() => void) | null;
  /** The runs or artifacts that the node stands for. */
  members: readonly FlowNode[];
  openMember(id: string): void;
  select(id: string): void;
  close(): void;
  trans: TranslationBundle;
}

/** Files, origin and use of a run or artifact. */
export function FlowDetails(props: IFlowDetailsProps): React.JSX.Element {
  const { flow, node, api, open, members, select, close, trans } = props;
  const before = neighboursOf(flow, node.id, 'in');
  const after = neighboursOf(flow, node.id, 'out');
  const isRun = node.kind === 'run';
  const where = node.path ?? node.place;
  return (
    <aside className="jp-t9k-Flow-details" aria-label={trans.__('Details')}>
      <header>
        <NodeIcon node={node} />
        <h3>{node.name}</h3>
        <IconButton
          icon={closeIcon}
          label={trans.__('Close')}
          onClick={close}
        />
      </header>
      <p className="jp-t9k-secondary">{detailOf(node, trans)}</p>
      {open && (
        <p>
          <Button kind="primary" onClick={open}>
            {trans.__('Open')}
          </Button>
        </p>
      )}
      {members.length > 0 && (
        <NodeList nodes={members} select={props.openMember} trans={trans} />
      )}
      {node.kind === 'artifact' && node.found && members.length === 0 && (
        <Files id={node.id} api={api} trans={trans} />
      )}
      {before.length > 0 && (
        <>
          <h4>{isRun ? trans.__('Uses') : trans.__('Made by')}</h4>
          <NodeList nodes={before} select={select} trans={trans} />
        </>
      )}
      {after.length > 0 && (
        <>
          <h4>{isRun ? trans.__('Makes') : trans.__('Used by')}</h4>
          <NodeList nodes={after} select={select} trans={trans} />
        </>
      )}
      {where !== null && (
        <>
          <h4>{trans.__('Folder')}</h4>
          <p className="jp-t9k-Flow-path">
            <code>{where}</code>{' '}
            <CopyButton
              text={where}
              label={trans.__('Copy')}
              kind="link"
              trans={trans}
            />
          </p>
          {node.path === null && (
            <p className="jp-t9k-secondary">
              {node.found
                ? trans.__('Outside the folder that JupyterLab shows')
                : trans.__('The run names this folder. It was not found here.')}
            </p>
          )}
        </>
      )}
    </aside>
  );
}

/** The first files of an artifact. */
function Files({
  id,
  api,
  trans
}: Pick<IFlowDetailsProps, 'api' | 'trans'> & {
  id: string;
}): React.JSX.Element | null {
  const [artifact, setArtifact] = React.useState<ArtifactDetail | null>(null);
  React.useEffect(() => {
    let isCurrent = true;
    setArtifact(null);
    api.artifact(id).then(
      found => isCurrent && setArtifact(found),
      error => console.warn('t9kjob: an artifact of the data flow:', error)
    );
    return () => {
      isCurrent = false;
    };
  }, [api, id]);
  if (!artifact) {
    return null;
  }
  const { files, file_count: count, more_files: hasMore, size } = artifact;
  return (
    <>
      <h4>
        {trans.__('Files')}{' '}
        <span className="jp-t9k-caption">
          {hasMore
            ? trans.__('more than %1 files', formatCount(count))
            : trans.__(
                '%1, %2',
                trans._n('%1 file', '%1 files', count),
                formatBytes(size)
              )}
        </span>
      </h4>
      <ul className="jp-t9k-Flow-files">
        {files.slice(0, MOST_FILES).map(file => (
          <li key={file.path}>
            <code title={file.path}>{file.path}</code>
            <span>{formatBytes(file.size)}</span>
          </li>
        ))}
      </ul>
      {count > MOST_FILES && !hasMore && (
        <p className="jp-t9k-secondary">
          {trans._n('%1 more file', '%1 more files', count - MOST_FILES)}
        </p>
      )}
    </>
  );
}
