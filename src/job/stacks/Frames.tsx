/** Frames of a stack. */
import { TranslationBundle } from '@jupyterlab/translation';
import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { StackFrame } from '../../api/types';
import { Icon } from '../../ui/Icon';
import { LinkButton } from '../../ui/Buttons';
import { OpenFile } from '../view/Traceback';
import { foldText, IRun, runsOf } from './text';

/** Properties of the frames. */
interface IFramesProps {
  frames: readonly StackFrame[];
  /** True if frames of libraries are shown one by one. */
  libraries: boolean;
  openFile: OpenFile;
  trans: TranslationBundle;
}

/** A stack, the innermost frame at the top. Consecutive frames of libraries fold into one row. */
export function Frames(props: IFramesProps): React.JSX.Element {
  const { frames, libraries, openFile, trans } = props;
  return (
    <div className="jp-t9k-Stack" role="list">
      {runsOf(frames).map((run, index) =>
        run.library ? (
          <LibraryRun
            key={index}
            run={run}
            open={libraries}
            openFile={openFile}
            trans={trans}
          />
        ) : (
          run.frames.map((frame, place) => (
            <FrameRow
              key={`${index}.${place}`}
              frame={frame}
              openFile={openFile}
            />
          ))
        )
      )}
    </div>
  );
}

/** Consecutive frames of libraries. The user can unfold them; the box above all stacks decides at first. */
function LibraryRun(props: {
  run: IRun;
  open: boolean;
  openFile: OpenFile;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { run, trans } = props;
  const [chosen, choose] = React.useState<boolean | null>(null);
  React.useEffect(() => choose(null), [props.open]);
  const open = chosen ?? props.open;
  return (
    <>
      <div className="jp-t9k-Stack-fold" role="listitem">
        <button
          type="button"
          aria-expanded={open}
          onClick={() => choose(!open)}
        >
          <Icon of={open ? caretDownIcon : caretRightIcon} size={16} />
          {foldText(run, trans)}
        </button>
      </div>
      {open &&
        run.frames.map((frame, index) => (
          <FrameRow key={index} frame={frame} openFile={props.openFile} />
        ))}
    </>
  );
}

/** Function, position and line of code of one frame. */
function FrameRow({
  frame,
  openFile
}: {
  frame: StackFrame;
  openFile: OpenFile;
}): React.JSX.Element {
  const { file, path, line } = frame;
  const name = file.split('/').pop() ?? file;
  const place = line ? `${name}:${line}` : name;
  return (
    <div
      className="jp-t9k-Stack-frame"
      role="listitem"
      data-library={frame.library || undefined}
    >
      <span className="jp-t9k-Stack-function" title={frame.function}>
        {frame.function}
      </span>
      <span className="jp-t9k-Stack-place" title={file}>
        {path === null ? (
          place
        ) : (
          <LinkButton
            title={file}
            onClick={() => openFile({ path, line: Math.max(1, line) })}
          >
            {place}
          </LinkButton>
        )}
      </span>
      <code title={frame.code ?? undefined}>{frame.code}</code>
    </div>
  );
}
