/** Divider in a log, in place of removed bytes. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { LogLine, LogStream } from '../../api/types';
import { hintIcon } from '../../ui/icons';
import { formatBytes } from '../../common/format';
import { sourceLabel } from '../loading/streams';
import { Icon } from '../../ui/Icon';

/** Props of `RemovedDivider`. */
interface IRemovedDividerProps {
  /** The line that stands for the removed bytes. */
  line: LogLine;
  /** The line's stream; undefined if only one stream is shown. */
  stream: LogStream | undefined;
  ordinal: number;
  trans: TranslationBundle;
}

/** Shows how many bytes were removed from the middle of a log. */
export function RemovedDivider(props: IRemovedDividerProps): React.JSX.Element {
  const { line, stream, ordinal, trans } = props;
  const size = formatBytes(line.removed);
  const source = stream && sourceLabel(stream);
  return (
    <div
      className="jp-t9k-LogDivider"
      role="separator"
      data-ordinal={ordinal}
      data-kind="removed"
    >
      <Icon of={hintIcon} size={14} />
      <span>
        {source
          ? trans.__(
              'Rank %1: %2 were removed here to keep the log below its limit',
              source,
              size
            )
          : trans.__(
              '%1 were removed here to keep the log below its limit',
              size
            )}
      </span>
    </div>
  );
}
