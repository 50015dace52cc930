/** Hook for the state of the form's groups. */
import * as React from 'react';
import { LaunchStore } from '../../model/store';
import { FoldName, GroupName } from '../fieldNames';
import { IFolding } from './Group';

/** Groups and folds that are closed by default, because few jobs need other values than the defaults. */
const FOLDED: readonly (GroupName | FoldName)[] = [
  'code',
  'where',
  'data',
  'lifecycle',
  'tensorboard',
  'image',
  'placement',
  'security'
];

/** Return the state of the form's groups. The store keeps it across tabs and reloads. */
export function useFolding(store: LaunchStore): IFolding {
  const [open, setOpen] = React.useState<Record<string, boolean>>({});
  const loading = React.useMemo(() => store.openGroups(), [store]);
  React.useEffect(() => {
    let current = true;
    void loading.then(saved => {
      if (current) {
        setOpen(now => ({ ...saved, ...now }));
      }
    });
    return () => {
      current = false;
    };
  }, [loading]);
  return React.useMemo(() => {
    const isOpen = (group: GroupName | FoldName) =>
      open[group] ?? !FOLDED.includes(group);
    return {
      isOpen,
      toggle: group => {
        const next = { ...open, [group]: !isOpen(group) };
        setOpen(next);
        // Wait for the saved state: the user may open a group before it has loaded.
        void loading.then(saved => store.saveOpenGroups({ ...saved, ...next }));
      }
    };
  }, [open, loading, store]);
}
