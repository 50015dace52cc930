import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { shownPath } from '../../model/contentsPath';
import { IconButton, LinkButton } from '../Buttons';
import { useLaunch } from './context';
import { PathField, Row } from './fields';
import { Group, IFolding } from './Group';

/** Where the job writes its event files. */
export function TensorBoardGroup({
  folding
}: {
  folding: IFolding;
}): React.JSX.Element {
  const { model, trans, reveal } = useLaunch();
  const { tensorboard } = model.form.spec;
  const root = model.state.prefill?.root ?? null;
  const dirs = tensorboard.log_dirs;
  const change = (log_dirs: string[], index: number) =>
    model.edit(
      { tensorboard: { ...tensorboard, log_dirs } },
      `/tensorboard/log_dirs/${index}`
    );
  return (
    <Group
      name="tensorboard"
      title={trans.__('TensorBoard')}
      summary={
        dirs
          .filter(Boolean)
          .map(dir => shownPath(dir, root))
          .join(' · ') || trans.__('no log directory')
      }
      folding={folding}
    >
      {dirs.map((dir, index) => {
        const field = `/tensorboard/log_dirs/${index}`;
        return (
          <Row
            key={index}
            field={field}
            caption={
              index === 0 &&
              trans.__('The script finds it in T9KJOB_LOG_DIR as well.')
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
          </Row>
        );
      })}
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
    </Group>
  );
}
