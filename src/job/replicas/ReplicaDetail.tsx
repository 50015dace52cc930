/** Details of a replica. */
import { Clipboard } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { copyIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Attempt, Pod, PodMount, Replica } from '../../api/types';
import { joinWords } from '../../common/shellWords';
import { IconButton } from '../../ui/Buttons';
import { Time } from '../../ui/Time';
import { AttemptEnd, spanText } from './Attempts';
import { listed } from '../../common/format';

/** Props of `ReplicaDetail`. */
interface IReplicaDetailProps {
  replica: Replica;
  trans: TranslationBundle;
}

/** Shows why a replica waits or failed, its pod and its attempts. */
export function ReplicaDetail({
  replica,
  trans
}: IReplicaDetailProps): React.JSX.Element {
  const { reason, pod, attempts } = replica;
  return (
    <div className="jp-t9k-ReplicaDetail">
      {reason && (
        <div className="jp-t9k-ReplicaDetail-reason">
          <p>
            <strong>{reason.sentence}</strong>
            {reason.hint && ` · ${reason.hint}`}
          </p>
          {reason.verbatim && <pre>{reason.verbatim}</pre>}
        </div>
      )}
      <dl className="jp-t9k-Facts">
        {pod && <PodFacts pod={pod} trans={trans} />}
        {attempts.length > 0 && (
          <>
            <dt>{trans.__('Attempts')}</dt>
            <dd>
              <ul>
                {[...attempts].reverse().map(attempt => (
                  <li key={attempt.number}>
                    <AttemptLine attempt={attempt} trans={trans} />
                  </li>
                ))}
              </ul>
            </dd>
          </>
        )}
      </dl>
    </div>
  );
}

/** Shows a pod's name, IP address, image, command and mounts, as the cluster reports them. */
function PodFacts({
  pod,
  trans
}: {
  pod: Pod;
  trans: TranslationBundle;
}): React.JSX.Element {
  const command = joinWords(pod.command);
  return (
    <>
      <dt>{trans.__('Pod')}</dt>
      <dd>
        <code>{pod.name}</code>
        {pod.ip && (
          <>
            {' · '}
            <code>{pod.ip}</code>
          </>
        )}
        {' · '}
        {trans.__('created')} <Time time={pod.created_at} trans={trans} />
      </dd>
      {pod.image && (
        <>
          <dt>{trans.__('Image')}</dt>
          <dd>
            <code>{pod.image}</code>
          </dd>
        </>
      )}
      {pod.command.length > 0 && (
        <>
          <dt>{trans.__('Command')}</dt>
          <dd className="jp-t9k-ReplicaDetail-command">
            <code>{command}</code>
            <IconButton
              icon={copyIcon}
              label={trans.__('Copy the command of %1', pod.name)}
              onClick={() => Clipboard.copyToSystem(command)}
            />
          </dd>
        </>
      )}
      {pod.mounts.length > 0 && (
        <>
          <dt>{trans.__('Mounts')}</dt>
          <dd>
            <ul>
              {pod.mounts.map(mount => (
                <li key={mount.path}>
                  <code>{mount.path}</code> {mountText(mount, trans)}
                </li>
              ))}
            </ul>
          </dd>
        </>
      )}
    </>
  );
}

/** Return the source and options of a mount. */
function mountText(mount: PodMount, trans: TranslationBundle): string {
  return listed([
    mount.source,
    ...(mount.sub_path ? [trans.__('folder %1', mount.sub_path)] : []),
    ...(mount.read_only ? [trans.__('read-only')] : [])
  ]);
}

/** Shows an attempt in one line. */
function AttemptLine({
  attempt,
  trans
}: {
  attempt: Attempt;
  trans: TranslationBundle;
}): React.JSX.Element {
  return (
    <>
      {trans.__('Attempt %1', attempt.number)}{' '}
      <span className="jp-t9k-secondary">{spanText(attempt, trans)}</span>{' '}
      <AttemptEnd attempt={attempt} trans={trans} />
    </>
  );
}
