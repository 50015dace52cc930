/** Traceback of a failed rank. */
import { Clipboard } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { copyIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Failure, Frame } from '../../api/types';
import { formatClock } from '../../common/format';
import { cellOf, shownFile } from '../model/nextStep';
import { IconButton, LinkButton } from '../../ui/Buttons';

/** Texts of Python's tracebacks, which are not translated. */
const HEAD = 'Traceback (most recent call last):';
const BEFORE_FILE = 'File "';

/** Opens a file of the lab at a line, from 1. */
export type OpenFile = (file: {
  path: string;
  line: number;
  /** Cell of a notebook, from 1, to which the line belongs. */
  cell?: number | null;
}) => void;

/** Properties of the traceback. */
interface ITracebackProps {
  failure: Failure;
  trans: TranslationBundle;
  openFile: OpenFile;
}

/** Traceback of a rank. Consecutive frames in libraries are folded to one line. */
export function Traceback(props: ITracebackProps): React.JSX.Element | null {
  const { failure, trans, openFile } = props;
  if (failure.frames.length === 0) {
    return null;
  }
  return (
    <section className="jp-t9k-Section">
      <h3>
        {failure.rank === null
          ? trans.__('Traceback of %1', failure.replica)
          : trans.__('Traceback of rank %1', failure.rank)}
        {failure.time !== null && (
          <span className="jp-t9k-caption">
            {formatClock(failure.time, true)}
          </span>
        )}
        <IconButton
          icon={copyIcon}
          label={trans.__('Copy the traceback')}
          onClick={() => Clipboard.copyToSystem(tracebackText(failure))}
        />
      </h3>
      <div className="jp-t9k-Traceback">
        <div className="jp-t9k-Traceback-dim">{HEAD}</div>
        {runsOf(failure.frames).map((frames, index) =>
          frames[0].library ? (
            <LibraryFrames
              key={index}
              frames={frames}
              openFile={openFile}
              trans={trans}
            />
          ) : (
            frames.map((frame, place) => (
              <FrameLines
                key={`${index}.${place}`}
                frame={frame}
                openFile={openFile}
              />
            ))
          )
        )}
        {failure.error && (
          <div className="jp-t9k-Traceback-error">{failure.error}</div>
        )}
      </div>
    </section>
  );
}

/** Consecutive frames in libraries, which the user can unfold. */
function LibraryFrames(props: {
  frames: readonly Frame[];
  openFile: OpenFile;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { frames, openFile, trans } = props;
  const [open, setOpen] = React.useState(false);
  return (
    <>
      <div className="jp-t9k-Traceback-dim jp-t9k-Traceback-fold">
        {trans._n(
          '%1 frame in %2',
          '%1 frames in %2',
          frames.length,
          shortFile(frames[frames.length - 1].file)
        )}{' '}
        <LinkButton aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? trans.__('hide') : trans.__('show')}
        </LinkButton>
      </div>
      {open &&
        frames.map((frame, index) => (
          <FrameLines key={index} frame={frame} openFile={openFile} />
        ))}
    </>
  );
}

/** Position and source line of a frame. */
function FrameLines({
  frame,
  openFile
}: {
  frame: Frame;
  openFile: OpenFile;
}): React.JSX.Element {
  const { file, line, path } = frame;
  // Show the lab's path, which is shorter, so that the line number stays visible.
  const place = `${shownFile(frame)}", line ${line}`;
  return (
    <>
      <div className="jp-t9k-Traceback-frame">
        {BEFORE_FILE}
        {path === null ? (
          place
        ) : (
          <LinkButton
            title={file}
            onClick={() => openFile({ path, line, cell: cellOf(frame) })}
          >
            {place}
          </LinkButton>
        )}
        {`, in ${frame.function}`}
      </div>
      {frame.code && <div className="jp-t9k-Traceback-code">{frame.code}</div>}
    </>
  );
}

/** Split frames into runs that are either all in libraries or all outside of libraries. */
export function runsOf(frames: readonly Frame[]): Frame[][] {
  const runs: Frame[][] = [];
  for (const frame of frames) {
    const last = runs[runs.length - 1];
    if (last && last[0].library === frame.library) {
      last.push(frame);
    } else {
      runs.push([frame]);
    }
  }
  return runs;
}

/** Return a library file's path from its package on, such as “torch/utils/data/dataloader.py”. */
function shortFile(file: string): string {
  return file.replace(
    /^.*\/(?:site-packages|dist-packages|lib\/python[^/]*)\//,
    ''
  );
}

/** Return a traceback in Python's format, for the clipboard. */
function tracebackText(failure: Failure): string {
  return [
    HEAD,
    ...failure.frames.flatMap(frame => [
      `  File "${frame.file}", line ${frame.line}, in ${frame.function}`,
      ...(frame.code ? [`    ${frame.code}`] : [])
    ]),
    ...(failure.error ? [failure.error] : [])
  ].join('\n');
}
