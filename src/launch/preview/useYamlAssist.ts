/** Hook that loads the assistance for editing a manifest: its fields, and the code that completes them. */
import { Extension } from '@codemirror/state';
import * as React from 'react';
import { KindSchema } from '../../api/types';
import { useLaunch } from '../parts/context';

/** Assistance for editing a manifest. */
interface IYamlAssist {
  /** Extension of the editor; null if it could not be loaded. */
  extension: Extension | null;
  /** True if the fields of the manifest are known. */
  hasFields: boolean;
  /** Why the cluster's own schema is not used; null if it is. */
  note: string | null;
}

/**
 * Return the assistance; null until it is loaded.
 *
 * @param isEdited - True while the manifest is edited; nothing is loaded before.
 */
export function useYamlAssist(isEdited: boolean): IYamlAssist | null {
  const { model, trans } = useLaunch();
  const [assist, setAssist] = React.useState<IYamlAssist | null>(null);
  React.useEffect(() => {
    if (!isEdited) {
      return;
    }
    let isCurrent = true;
    const load = async (): Promise<void> => {
      // The editor works without; its checks come with the preview, which reports a lost connection itself.
      const [code, schema] = await Promise.all([
        import('../yaml/assist').catch(() => null),
        model.readManifestSchema().catch((): KindSchema | null => null)
      ]);
      if (isCurrent) {
        const hasFields = code !== null && schema !== null;
        setAssist({
          extension: code && code.yamlAssist(schema, trans),
          hasFields,
          note: hasFields
            ? schema.note
            : trans.__('The fields of this manifest could not be loaded.')
        });
      }
    };
    void load();
    return () => {
      isCurrent = false;
      setAssist(null);
    };
  }, [isEdited, model, trans]);
  return assist;
}
