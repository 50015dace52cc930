import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { JobSpec } from '../../api/types';
import { useLaunch } from './context';
import { NumberField, Row } from './fields';
import { Fold } from './Fold';
import { IFolding } from './Group';

type Security = JobSpec['security'];

/** The largest id that Linux knows. */
const MOST = 2 ** 31 - 1;

/** As whom the job runs: files that it makes are theirs. */
export function SecurityFields({
  folding
}: {
  folding: IFolding;
}): React.JSX.Element {
  const { model, trans, prefix } = useLaunch();
  const { security } = model.form.spec;
  const can = model.can('security');
  const ids: [keyof Security, string][] = [
    ['uid', trans.__('user')],
    ['gid', trans.__('group')],
    ['fs_group', trans.__('group of volumes')]
  ];
  const set = (id: keyof Security, value: number | null) =>
    model.edit({ security: { ...security, [id]: value } }, `/security/${id}`);
  return (
    <Fold
      name="security"
      title={trans.__('As whom it runs')}
      summary={describeUser(security, trans)}
      folding={folding}
    >
      <Row
        field="/security/uid"
        others={['/security/gid', '/security/fs_group']}
        label={trans.__('Ids')}
        group
        caption={
          can.reason ??
          trans.__(
            'Ids as numbers, those of this lab by default: files of another user can’t be deleted here. Empty: as the image says.'
          )
        }
      >
        <span className="jp-t9k-Launch-several">
          {ids.map(([id, label]) => (
            <React.Fragment key={id}>
              <label htmlFor={`${prefix}/security/${id}`}>{label}</label>
              <NumberField
                field={`/security/${id}`}
                value={security[id]}
                min={0}
                max={MOST}
                disabled={!can.supported}
                onChange={value => set(id, value)}
                onClear={() => set(id, null)}
              />
            </React.Fragment>
          ))}
        </span>
      </Row>
    </Fold>
  );
}

/** “user 1000:1000”; as the image says where that is not given. */
export function describeUser(
  { uid, gid }: Security,
  trans: TranslationBundle
): string {
  if (uid === null) {
    return trans.__('user of the image');
  }
  return gid === null
    ? trans.__('user %1', uid)
    : trans.__('user %1:%2', uid, gid);
}
