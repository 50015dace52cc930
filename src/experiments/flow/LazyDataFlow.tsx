/** The data flow, whose code is loaded when it is shown first. */
import * as React from 'react';
import { useAfter } from '../../common/hooks';
import { Button } from '../../ui/Buttons';
import type { IDataFlowProps } from './DataFlowPanel';

type Panel = typeof import('./DataFlowPanel');

/** The data flow of a run or artifact. */
export function LazyDataFlow(props: IDataFlowProps): React.JSX.Element {
  const { trans } = props;
  const [panel, setPanel] = React.useState<Panel | null>(null);
  const [hasFailed, setFailed] = React.useState(false);
  const isLate = useAfter(!panel && !hasFailed, 300);
  const load = React.useCallback(() => {
    setFailed(false);
    import('./DataFlowPanel').then(setPanel, error => {
      console.warn('t9kjob: loading the data flow:', error);
      setFailed(true);
    });
  }, []);
  React.useEffect(load, [load]);
  if (panel) {
    return <panel.DataFlowPanel {...props} />;
  }
  return (
    <p className="jp-t9k-Deferred-wait" role="status">
      {isLate && trans.__('Reading the data flow…')}
      {hasFailed && (
        <Button onClick={load}>{trans.__('Load the data flow again')}</Button>
      )}
    </p>
  );
}
