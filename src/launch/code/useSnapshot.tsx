/** The files of the snapshot that a form would take, requested once for the form's group and for its preview. */
import * as React from 'react';
import { ApiError, expectApiError } from '../../api/errors';
import { SnapshotPreview } from '../../api/types';
import { useLaunch, useModel } from '../parts/context';

/** Delay between the last edit and the request, in ms. */
const DELAY = 300;

/** State of the snapshot's files. */
interface ISnapshotState {
  /** The files; null before the first answer, and without a snapshot. */
  files: SnapshotPreview | null;
  /** Error of the last request; null if it succeeded. */
  failure: ApiError | null;
  /** Request the files again. */
  refresh(): void;
}

const SnapshotContext = React.createContext<ISnapshotState>({
  files: null,
  failure: null,
  refresh: () => undefined
});

/** Return the files of the form's snapshot. */
export function useSnapshot(): ISnapshotState {
  return React.useContext(SnapshotContext);
}

/** Provides the files of the form's snapshot, and requests them after each change of the snapshot's fields. */
export function SnapshotProvider({
  children
}: {
  children: React.ReactNode;
}): React.JSX.Element {
  const { model } = useLaunch();
  const [round, setRound] = React.useState(0);
  const [state, setState] = React.useState<
    Pick<ISnapshotState, 'files' | 'failure'>
  >({ files: null, failure: null });
  // A text, so that the effect runs only if a field of the snapshot has changed.
  const wanted = useModel(({ state: { engine, namespace }, form: { spec } }) =>
    spec.source?.kind === 'snapshot'
      ? JSON.stringify([engine, namespace, spec.source, spec.mounts])
      : ''
  );
  React.useEffect(() => {
    if (!wanted) {
      setState({ files: null, failure: null });
      return;
    }
    const abort = new AbortController();
    const timer = window.setTimeout(() => {
      model.readSnapshot(abort.signal).then(
        files => abort.signal.aborted || setState({ files, failure: null }),
        (error: unknown) => {
          if (!abort.signal.aborted) {
            setState({ files: null, failure: expectApiError(error) });
          }
        }
      );
    }, DELAY);
    return () => {
      window.clearTimeout(timer);
      abort.abort();
    };
  }, [model, wanted, round]);
  const value = React.useMemo(
    () => ({ ...state, refresh: () => setRound(last => last + 1) }),
    [state]
  );
  return (
    <SnapshotContext.Provider value={value}>
      {children}
    </SnapshotContext.Provider>
  );
}
