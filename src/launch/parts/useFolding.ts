import * as React from 'react';
import { LaunchStore } from '../model/store';
import { FoldName, GroupName } from './fieldNames';
import { IFolding } from './Group';

/** Groups that are folded until somebody opens them: their defaults are right for most. */
const FOLDED: readonly (GroupName | FoldName)[] = [
  'where',
  'data',
  'lifecycle',
  'tensorboard',
  'image',
  'placement',
  'security'
];

/** Which groups are open, remembered over tabs and reloads. */
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
        // A group may be opened before the saved ones are known.
        void loading.then(saved => store.saveOpenGroups({ ...saved, ...next }));
      }
    };
  }, [open, loading, store]);
}
