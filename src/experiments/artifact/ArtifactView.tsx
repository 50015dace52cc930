/** Page of an artifact: header, files with previews, data flow. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { ArtifactDetail, FlowNode } from '../../api/types';
import { useSignal, useWidth } from '../../common/hooks';
import { Banner } from '../../ui/Banner';
import { LinkButton } from '../../ui/Buttons';
import { LoadState } from '../../ui/LoadState';
import { InnerTabs, tabId } from '../../ui/InnerTabs';
import { NodeList } from '../flow/FlowTable';
import { LazyDataFlow } from '../flow/LazyDataFlow';
import { ArtifactHeader, IArtifactLab } from './ArtifactHeader';
import { FileList, References } from './FileList';
import { ArtifactModel, ArtifactPane } from './model';
import { PreviewCard } from './PreviewCard';

/** Narrower pages have the previews below the list. */
const NARROW = 760;

interface IArtifactViewProps {
  model: ArtifactModel;
  lab: IArtifactLab;
  trans: TranslationBundle;
}

/** Content of an artifact's tab. */
export function ArtifactView(props: IArtifactViewProps): React.JSX.Element {
  const { model, lab, trans } = props;
  useSignal(model.changed);
  const { detail, failure, pane } = model;
  const panel = `jp-t9k-artifact-${model.id}`;
  if (!detail) {
    return (
      <LoadState
        failure={failure}
        title={
          failure?.status === 404
            ? trans.__('This artifact was not found')
            : trans.__('The artifact could not be read')
        }
        waiting={trans.__('Reading the artifact…')}
        retry={() => void model.load()}
        trans={trans}
      />
    );
  }
  return (
    <div className="jp-t9k-ArtifactView">
      <ArtifactHeader {...props} detail={detail} />
      {failure && <Banner level="warning" title={failure.message} />}
      {detail.problem && <Banner level="warning" title={detail.problem} />}
      <InnerTabs<ArtifactPane>
        tabs={[
          { key: 'files', label: trans.__('Files'), count: detail.file_count },
          { key: 'flow', label: trans.__('Data flow') }
        ]}
        current={pane}
        label={trans.__('Parts of the artifact')}
        panel={panel}
        select={next => {
          model.pane = next;
        }}
      />
      <div
        id={panel}
        className="jp-t9k-ArtifactView-panel"
        role="tabpanel"
        aria-labelledby={tabId(panel, pane)}
      >
        {pane === 'files' ? (
          <FilesPane {...props} detail={detail} />
        ) : (
          <LazyDataFlow
            id={model.id}
            api={model.client}
            open={lab.open}
            trans={trans}
          />
        )}
      </div>
    </div>
  );
}

interface IPartProps extends IArtifactViewProps {
  detail: ArtifactDetail;
}

function FilesPane(props: IPartProps): React.JSX.Element {
  const { model, lab, detail, trans } = props;
  const root = React.useRef<HTMLDivElement>(null);
  const width = useWidth(root);
  const { shown, selected } = model;
  return (
    <div
      ref={root}
      className="jp-t9k-Artifact"
      data-narrow={width > 0 && width < NARROW}
    >
      <div className="jp-t9k-Artifact-list">
        <FileList model={model} detail={detail} trans={trans} />
        <References detail={detail} trans={trans} />
        <Origin {...props} />
        <About detail={detail} trans={trans} />
      </div>
      <div className="jp-t9k-Artifact-previews">
        {selected !== null && (
          <p className="jp-t9k-Artifact-note">
            <LinkButton
              onClick={() => {
                model.selected = null;
              }}
            >
              {trans.__('Show all small files')}
            </LinkButton>
          </p>
        )}
        {shown.map(file => (
          <PreviewCard
            key={file.path}
            file={file}
            model={model}
            renderMarkdown={lab.renderMarkdown}
            trans={trans}
          />
        ))}
        {shown.length === 0 && detail.file_count > 0 && (
          <p className="jp-t9k-Artifact-note jp-t9k-secondary">
            {trans.__('Select a file to see its preview.')}
          </p>
        )}
      </div>
    </div>
  );
}

/** The runs that made and used the artifact. */
function Origin({ model, lab, detail, trans }: IPartProps): React.JSX.Element {
  const hasPage = ({ kind, found }: FlowNode): boolean =>
    kind !== 'asset' && found;
  const openOne = (nodes: readonly FlowNode[], id: string): void => {
    const node = nodes.find(each => each.id === id);
    if (node && node.kind !== 'asset') {
      lab.open(node.kind, id);
    }
  };
  const parts: [string, FlowNode[]][] = [
    [trans.__('Made by'), detail.made_by],
    [trans.__('Comes from'), detail.comes_from],
    [trans.__('Used by'), detail.used_by]
  ];
  const title = trans.__('Data flow');
  return (
    <section aria-label={title}>
      <h3>
        {title}{' '}
        <LinkButton
          onClick={() => {
            model.pane = 'flow';
          }}
        >
          {trans.__('Open the graph')}
        </LinkButton>
      </h3>
      <dl className="jp-t9k-Artifact-facts">
        {parts.map(([name, nodes]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {nodes.length > 0 ? (
                <NodeList
                  nodes={nodes}
                  select={id => openOne(nodes, id)}
                  isLink={hasPage}
                  trans={trans}
                />
              ) : (
                <span className="jp-t9k-secondary">
                  {trans.__('nothing so far')}
                </span>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function About({
  detail: { description, path, place },
  trans
}: Pick<IPartProps, 'detail' | 'trans'>): React.JSX.Element | null {
  const where = path ?? place;
  if (!description && where === null) {
    return null;
  }
  const title = trans.__('About');
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <dl className="jp-t9k-Artifact-facts">
        {description && (
          <div>
            <dt>{trans.__('Description')}</dt>
            <dd>{description}</dd>
          </div>
        )}
        {where !== null && (
          <div>
            <dt>{trans.__('Folder')}</dt>
            <dd>
              <code>{where}</code>
              {path === null && (
                <p className="jp-t9k-secondary">
                  {trans.__('Outside the folder that JupyterLab shows')}
                </p>
              )}
            </dd>
          </div>
        )}
      </dl>
    </section>
  );
}
