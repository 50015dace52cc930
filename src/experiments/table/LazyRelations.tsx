/** Parallel coordinates of the table, whose code is loaded when they are shown first. */
import * as React from 'react';
import { useAfter } from '../../common/hooks';
import { Button } from '../../ui/Buttons';
import type { ITableRelationsProps } from '../compare/relations/tableRelations';

type Part = typeof import('../compare/relations/tableRelations');

/** Parallel coordinates and scatter plot of the runs of the table. */
export function LazyRelations(props: ITableRelationsProps): React.JSX.Element {
  const { trans } = props;
  const [part, setPart] = React.useState<Part | null>(null);
  const [hasFailed, setFailed] = React.useState(false);
  const isLate = useAfter(!part && !hasFailed, 300);
  const load = React.useCallback(() => {
    setFailed(false);
    import('../compare/relations/tableRelations').then(setPart, error => {
      console.warn('t9kjob: loading the parallel coordinates:', error);
      setFailed(true);
    });
  }, []);
  React.useEffect(load, [load]);
  if (part) {
    return <part.TableRelations {...props} />;
  }
  return (
    <p className="jp-t9k-Deferred-wait" role="status">
      {isLate && trans.__('Loading the chart…')}
      {hasFailed && (
        <Button onClick={load}>{trans.__('Load the chart again')}</Button>
      )}
    </p>
  );
}
