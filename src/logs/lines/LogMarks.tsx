/** Marks beside a log's scroll bar. */
import * as React from 'react';
import { LogHit } from '../../api/types';
import { LogModel } from '../model/log';
import { LogSearch } from '../model/search';
import { bytesUpTo } from '../loading/streams';
import { useSignal, useValue } from '../../common/hooks';

/** Number of positions of a mark. Marks at the same position are drawn as one. */
const GRAIN = 160;
/** Shortest time between two renders while the log grows, in ms. */
const MOVES = 250;

/** Props of `LogMarks`. */
interface ILogMarksProps {
  log: LogModel;
  search: LogSearch;
  errors: LogSearch;
}

/** Shows where the log has errors and hits of the search. */
export function LogMarks({
  log,
  search,
  errors
}: ILogMarksProps): React.JSX.Element | null {
  useSignal(search.changed);
  useSignal(errors.changed);
  useSignal(log.changed, MOVES);
  if (useValue(log.viewChanged, () => isAllInView(log))) {
    return null; // There is no scroll bar.
  }
  const streams = new Map(log.chosen.map(stream => [stream.id, stream]));
  const places = (hits: readonly LogHit[]): number[] => [
    ...new Set(
      hits.flatMap(hit => {
        const stream = streams.get(hit.stream);
        if (!stream) {
          return [];
        }
        const end = log.window.after[hit.stream] ?? 0;
        const size = Math.max(stream.size, end) - stream.removed;
        const bytes = bytesUpTo(stream, hit.offset);
        return Math.round((bytes / Math.max(1, size)) * GRAIN);
      })
    )
  ];
  const current =
    search.current === null ? [] : places([search.hits[search.current]]);
  const mark = (kind: string) =>
    function Mark(place: number): React.JSX.Element {
      return (
        <span
          key={`${kind}${place}`}
          data-kind={kind}
          style={{ top: `${(place / GRAIN) * 100}%` }}
        />
      );
    };
  return (
    <div className="jp-t9k-LogMarks" aria-hidden>
      {places(errors.hits).map(mark('error'))}
      {places(search.hits).map(mark('hit'))}
      {current.map(mark('current'))}
    </div>
  );
}

/** Return true if the whole log fits into the view. */
function isAllInView({ window, view }: LogModel): boolean {
  return (
    window.atStart &&
    window.atEnd &&
    (!view || (view.first === window.first && view.last === window.end - 1))
  );
}
