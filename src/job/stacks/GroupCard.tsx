/** A group of ranks with equal stacks. */
import { Clipboard } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { copyIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { StackGroup } from '../../api/types';
import { IconButton, LinkButton } from '../../ui/Buttons';
import { OpenFile } from '../view/Traceback';
import { Frames } from './Frames';
import { capital, groupText, membersText } from './text';

/** Properties of a group. */
interface IGroupCardProps {
  group: StackGroup;
  /** True for a group that differs from the largest one. */
  odd: boolean;
  libraries: boolean;
  threads: boolean;
  /** Show the log of the group's ranks. */
  showLog(group: StackGroup): void;
  openFile: OpenFile;
  trans: TranslationBundle;
}

/** Title, ranks and stack of a group. */
export function GroupCard(props: IGroupCardProps): React.JSX.Element {
  const { group, libraries, openFile, trans } = props;
  const { members, threads } = group;
  const title = React.useId();
  return (
    <section
      className="jp-t9k-StackGroup"
      data-odd={props.odd || undefined}
      aria-labelledby={title}
    >
      <header>
        <h3 id={title}>{capital(group.title)}</h3>
        <LinkButton onClick={() => props.showLog(group)}>
          {members.length === 1
            ? trans.__('Log')
            : trans.__('Logs of the %1', members.length)}
        </LinkButton>
        <IconButton
          icon={copyIcon}
          label={trans.__('Copy the stack')}
          onClick={() => Clipboard.copyToSystem(groupText(group, trans))}
        />
        <p className="jp-t9k-secondary">
          {[membersText(group, trans), group.note].filter(Boolean).join(' · ')}
        </p>
      </header>
      <Frames
        frames={group.frames}
        libraries={libraries}
        openFile={openFile}
        trans={trans}
      />
      {props.threads &&
        threads.map((thread, index) => (
          <div key={index} className="jp-t9k-StackGroup-thread">
            <h4>
              {thread.pid === null
                ? thread.name || trans.__('Thread %1', index + 2)
                : trans.__('Child process %1', thread.pid)}
            </h4>
            <Frames
              frames={thread.frames}
              libraries={libraries}
              openFile={openFile}
              trans={trans}
            />
          </div>
        ))}
    </section>
  );
}
