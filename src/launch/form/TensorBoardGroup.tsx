/** The form's group “TensorBoard”: directories of event files, and the cluster's own TensorBoard. */
import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { JobSpec } from '../../api/types';
import { shownPath } from '../../common/contentsPath';
import { LaunchModel } from '../model/launch';
import { IconButton, LinkButton } from '../../ui/Buttons';
import { useFixed, useLaunch, useModel } from '../parts/context';
import { CheckField } from '../parts/choices';
import { PathField, TextField } from '../parts/TextField';
import { Row } from '../parts/Row';
import { Group, IFolding } from '../parts/groups/Group';

/** Group “TensorBoard”. */
export function TensorBoardGroup({
  folding
}: {
  folding: IFolding;
}): React.JSX.Element {
  const { trans } = useLaunch();
  const inCluster = useModel(model => model.offers('cluster_tensorboard'));
  return (
    <Group
      name="tensorboard"
      title={trans.__('TensorBoard')}
      summary={model => {
        const { log_dirs, cluster } = model.form.spec.tensorboard;
        const root = rootOf(model);
        return (
          [
            ...log_dirs.filter(Boolean).map(dir => shownPath(dir, root)),
            ...(cluster ? [trans.__('also in the cluster')] : [])
          ].join(' · ') || trans.__('no log directory')
        );
      }}
      folding={folding}
    >
      <LogDirectories />
      {inCluster && <ClusterField />}
    </Group>
  );
}

/** Return the folder to which shown paths are relative; null if the job doesn't share the lab's file system. */
function rootOf({ facts, state }: LaunchModel): string | null {
  return facts.shares_lab_filesystem ? (state.prefill?.root ?? null) : null;
}

/** One row per log directory, and the button that adds a row. */
function LogDirectories(): React.JSX.Element {
  const { model, trans, reveal } = useLaunch();
  const root = useModel(rootOf);
  const dirs = useModel(({ form }) => form.spec.tensorboard.log_dirs);
  const isFixed = useFixed('/tensorboard/log_dirs') !== null;
  const change = (log_dirs: string[], index: number) => {
    const { tensorboard } = model.form.spec;
    model.edit(
      { tensorboard: { ...tensorboard, log_dirs } },
      `/tensorboard/log_dirs/${index}`
    );
  };
  return (
    <>
      {dirs.map((dir, index) => {
        const field = `/tensorboard/log_dirs/${index}`;
        return (
          <Row
            key={index}
            field={field}
            caption={
              index === 0 &&
              trans.__('The script can also read it from T9KJOB_LOG_DIR.')
            }
          >
            <PathField
              field={field}
              path={dir}
              onChange={path =>
                change(
                  dirs.map((other, i) => (i === index ? path : other)),
                  index
                )
              }
            />
            {!isFixed && (
              <IconButton
                icon={closeIcon}
                label={trans.__('Remove %1', shownPath(dir, root) || field)}
                onClick={() =>
                  change(
                    dirs.filter((_, i) => i !== index),
                    index
                  )
                }
              />
            )}
          </Row>
        );
      })}
      {!isFixed && (
        <div className="jp-t9k-Launch-row">
          <span />
          <LinkButton
            onClick={() => {
              change([...dirs, ''], dirs.length);
              reveal(`/tensorboard/log_dirs/${dirs.length}`);
            }}
          >
            {trans.__('Add log directory')}
          </LinkButton>
        </div>
      )}
    </>
  );
}

/** Field of the TensorBoard that the cluster creates with the job. */
function ClusterField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const field = '/tensorboard/cluster';
  const cluster = useModel(({ form }) => form.spec.tensorboard.cluster);
  const can = useModel(now => now.can('cluster_tensorboard'));
  const onChange = (next: JobSpec['tensorboard']['cluster']): void => {
    const { tensorboard } = model.form.spec;
    model.edit({ tensorboard: { ...tensorboard, cluster: next } }, field);
  };
  const none = { request: null, limit: null };
  const plain = {
    image: null,
    resources: { cpu: none, memory: none, device: null }
  };
  return (
    <Row field={field} caption={can.reason} group>
      <CheckField
        field={field}
        checked={cluster !== null}
        disabled={!can.supported && cluster === null}
        onChange={on => onChange(on ? plain : null)}
      >
        {trans.__('Create a TensorBoard with the job')}
      </CheckField>
      {cluster ? (
        <TextField
          code
          field="/tensorboard/cluster/image"
          aria-label={trans.__('Image of the TensorBoard')}
          value={cluster.image ?? ''}
          placeholder={trans.__('the platform’s own image')}
          onChange={text =>
            onChange({ ...cluster, image: text.trim() || null })
          }
        />
      ) : (
        can.supported && (
          <span className="jp-t9k-caption">
            {trans.__('for users without this lab')}
          </span>
        )
      )}
    </Row>
  );
}
