/** View of the table of runs. */
import * as React from 'react';
import { useShown, useSignal, useWidth } from '../../common/hooks';
import { Banner } from '../../ui/Banner';
import { LinkButton } from '../../ui/Buttons';
import { IExperimentsLab } from '../host';
import { ExperimentsModel } from '../model/experiments';
import { RunActions } from './actions';
import { LazyRelations } from './LazyRelations';
import { RunsTable } from './rows/RunsTable';
import { Failure, FirstUse, Loading, NothingFound, StatusLine } from './states';
import { SelectionBar } from './toolbar/SelectionBar';
import { Toolbar } from './toolbar/Toolbar';

/** Shortest time between two renderings for changes of the runs, in ms. */
const INTERVAL = 100;

interface IExperimentsViewProps {
  model: ExperimentsModel;
  actions: RunActions;
  lab: IExperimentsLab;
}

/** Shows the runs with a toolbar, or why there are none. It watches the runs only while it is visible. */
export function ExperimentsView(
  props: IExperimentsViewProps
): React.JSX.Element {
  const { model, lab } = props;
  const { trans } = lab;
  const root = React.useRef<HTMLDivElement>(null);
  const isShown = useShown(root);
  const width = useWidth(root);
  useSignal(model.store.changed, INTERVAL);
  useSignal(model.changed);
  React.useEffect(() => {
    model.store.isActive = isShown;
  }, [model, isShown]);
  const { failure } = model.store;
  const isKnown = model.store.runs.length > 0;
  return (
    <div className="jp-t9k-RunsView" ref={root}>
      <Toolbar {...props} />
      {isKnown && <SelectionBar {...props} />}
      {failure && isKnown && (
        <Banner
          level="warning"
          title={trans.__('The runs could not be read again.')}
          actions={
            <LinkButton onClick={() => model.store.retry()}>
              {trans.__('Try now')}
            </LinkButton>
          }
        >
          {failure.message}
        </Banner>
      )}
      <Content {...props} width={width} />
      {isKnown && <StatusLine model={model} trans={trans} />}
    </div>
  );
}

function Content({
  model,
  actions,
  lab,
  width
}: IExperimentsViewProps & { width: number }): React.JSX.Element {
  const { trans } = lab;
  const { store, known, runs } = model;
  if (known.length === 0) {
    if (store.failure) {
      return <Failure model={model} trans={trans} />;
    }
    return store.isLoading || (store.isScanning && store.runs.length === 0) ? (
      <Loading model={model} trans={trans} />
    ) : (
      <FirstUse model={model} trans={trans} />
    );
  }
  if (runs.length === 0) {
    return <NothingFound model={model} trans={trans} />;
  }
  return model.view.shape === 'parallel' ? (
    <LazyRelations model={model} trans={trans} />
  ) : (
    <RunsTable model={model} actions={actions} width={width} trans={trans} />
  );
}
