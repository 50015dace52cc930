/** View of the table of jobs. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import {
  usePacedSignal,
  useShown,
  useSignal,
  useWidth
} from '../../common/hooks';
import { IMenuItem } from '../../common/menu';
import { ConnectionBanner } from '../../jobs/ConnectionBanner';
import { IJobsModel } from '../../tokens';
import { Banner } from '../../ui/Banner';
import { LinkButton } from '../../ui/Buttons';
import { JobTableModel } from '../model/table';
import { BUILT_IN_VIEWS } from '../model/view';
import { IGridActions, inSeveralNamespaces, JobsGrid } from './JobsGrid';
import { ISelectionActions, SelectionBar } from './SelectionBar';
import { Toolbar } from './Toolbar';
import { ViewTabs } from './ViewTabs';

/** The longest pause between two renderings after news of the server, in ms. */
const INTERVAL = 250;

interface IJobTableViewProps {
  model: JobTableModel;
  jobs: IJobsModel;
  actions: IGridActions & ISelectionActions;
  moreItems(): (IMenuItem | null)[];
  /** Save the shown settings under a name that the user chooses. */
  saveView(): void;
  trans: TranslationBundle;
}

/** Shows the jobs with a toolbar, or why there are none. It follows changes only while it is visible. */
export function JobTableView(props: IJobTableViewProps): React.JSX.Element {
  const { model, jobs, actions, moreItems, saveView, trans } = props;
  const root = React.useRef<HTMLDivElement>(null);
  const isShown = useShown(root);
  const width = useWidth(root);
  usePacedSignal(isShown ? jobs.changed : null, INTERVAL);
  useSignal(model.changed);
  return (
    <div className="jp-t9k-RunsView" ref={root}>
      <ConnectionBanner
        connection={jobs.connection}
        reconnect={() => jobs.reconnect()}
        trans={trans}
      />
      <ViewTabs model={model} onSave={saveView} trans={trans} />
      <Toolbar model={model} moreItems={moreItems} trans={trans} />
      <SelectionBar model={model} actions={actions} trans={trans} />
      {model.view.deleted && jobs.deleted.error !== null && (
        <Banner
          level="warning"
          title={trans.__('The deleted jobs could not be read.')}
        >
          {jobs.deleted.error}
        </Banner>
      )}
      <Content {...props} width={width} />
      <StatusLine model={model} trans={trans} />
    </div>
  );
}

function Content({
  model,
  jobs,
  actions,
  width,
  trans
}: IJobTableViewProps & { width: number }): React.JSX.Element {
  const { rows, known } = model;
  const hasNamespaces = React.useMemo(
    () => inSeveralNamespaces(known),
    [known]
  );
  if (rows.length > 0) {
    return (
      <JobsGrid
        model={model}
        actions={actions}
        width={width}
        engines={jobs.engines}
        hasNamespaces={hasNamespaces}
        trans={trans}
      />
    );
  }
  return (
    <div className="jp-t9k-Runs-nothing" role="status">
      {jobs.connection.state === 'connecting' ? (
        <p>{trans.__('Loading the jobs…')}</p>
      ) : known.length === 0 ? (
        <p>
          {trans.__(
            'There are no jobs yet. Right-click a script or a notebook in the file browser and choose “Run as Distributed Job”.'
          )}
        </p>
      ) : (
        <>
          <p>
            {trans._n(
              'No job of the %1 matches.',
              'No job of the %1 matches.',
              known.length
            )}
          </p>
          <LinkButton
            onClick={() => {
              const { columns, group, order } = model.view;
              model.change({ ...BUILT_IN_VIEWS.all, columns, group, order });
            }}
          >
            {trans.__('Show all jobs')}
          </LinkButton>
        </>
      )}
    </div>
  );
}

/** The order of the rows, and the number of jobs that are known from their records only. */
function StatusLine({
  model,
  trans
}: {
  model: JobTableModel;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { view, shown } = model;
  const deleted = view.deleted ? shown.filter(job => job.deleted).length : 0;
  return (
    <div className="jp-t9k-Runs-line jp-t9k-caption">
      <span>
        {view.order.key === 'default'
          ? trans.__('Order: problems first, then active, then newest')
          : ''}
      </span>
      <span>
        {deleted > 0 &&
          trans._n(
            '%1 job is deleted and known from its record only',
            '%1 jobs are deleted and known from their records only',
            deleted
          )}
      </span>
    </div>
  );
}
