/** Fields of the user that the job runs as, and of the pods' security standard. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { MAX_INT32 } from '../../api/constants';
import { JobSpec } from '../../api/types';
import { useLaunch, useModel } from '../parts/context';
import { CheckField } from '../parts/choices';
import { NumberField } from '../parts/NumberField';
import { Row } from '../parts/Row';
import { Fold } from '../parts/groups/Fold';
import { IFolding } from '../parts/groups/Group';

type Security = JobSpec['security'];

/** Fold “User and security” of the group “Where”. */
export function SecurityFields({
  folding
}: {
  folding: IFolding;
}): React.JSX.Element {
  const { model, trans, prefix } = useLaunch();
  const security = useModel(({ form }) => form.spec.security);
  const can = useModel(now => now.can('security'));
  const ids: ['uid' | 'gid' | 'fs_group', string][] = [
    ['uid', trans.__('user')],
    ['gid', trans.__('group')],
    ['fs_group', trans.__('group of volumes')]
  ];
  const set = <K extends keyof Security>(name: K, value: Security[K]) =>
    model.edit(
      { security: { ...security, [name]: value } },
      `/security/${name}`
    );
  return (
    <Fold
      name="security"
      title={trans.__('User and security')}
      summary={({ form }) => describeUser(form.spec.security, trans)}
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
            'Numeric ids. The default is this lab’s user, who can’t delete files of other users. Empty: the image’s user.'
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
                max={MAX_INT32}
                disabled={!can.supported}
                onChange={value => set(id, value)}
                onClear={() => set(id, null)}
              />
            </React.Fragment>
          ))}
        </span>
      </Row>
      <Row
        field="/security/restricted"
        caption={trans.__(
          'Adds the fields that the standard demands: no root, no new privileges, no capabilities, the runtime’s seccomp profile.'
        )}
      >
        <CheckField
          field="/security/restricted"
          checked={security.restricted}
          disabled={!can.supported}
          onChange={restricted => set('restricted', restricted)}
        >
          {trans.__('Use the restricted pod security standard')}
        </CheckField>
      </Row>
    </Fold>
  );
}

/** Return a short text for the job's user, such as “user 1000:1000”. */
export function describeUser(
  { uid, gid, restricted }: Security,
  trans: TranslationBundle
): string {
  const user =
    uid === null
      ? trans.__('user of the image')
      : gid === null
        ? trans.__('user %1', uid)
        : trans.__('user %1:%2', uid, gid);
  return restricted ? trans.__('%1, restricted pods', user) : user;
}
