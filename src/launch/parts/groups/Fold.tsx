/** Rows within a group that fold to one line. */
import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Icon } from '../../../ui/Icon';
import { useLaunch, useModel } from '../context';
import { FoldName, describeField } from '../fieldNames';
import { IFolding } from './Group';
import { Summary, SummaryText } from './Summary';

/** Properties of a fold. */
interface IFoldProps {
  name: FoldName;
  title: string;
  /** Returns a one-line summary of the content, shown while the fold is closed. */
  summary: Summary;
  folding: IFolding;
  children: React.ReactNode;
}

/** Rows of a group that few jobs need. */
export function Fold({
  name,
  title,
  summary,
  folding,
  children
}: IFoldProps): React.JSX.Element {
  const { trans, prefix } = useLaunch();
  // A fold with an error is always open.
  const wrong = useModel(({ checks }) =>
    checks.some(
      ({ level, field }) =>
        level === 'error' && field && describeField(field, trans)?.fold === name
    )
  );
  const open = wrong || folding.isOpen(name);
  const caret = open ? caretDownIcon : caretRightIcon;
  const id = `${prefix}fold-${name}`;
  return (
    <>
      <div className="jp-t9k-Launch-row">
        <span />
        <button
          type="button"
          id={id}
          className="jp-t9k-Launch-fold"
          aria-expanded={open}
          aria-controls={`${id}-body`}
          onClick={() => folding.toggle(name)}
        >
          <Icon of={caret} />
          <span>{title}</span>
          {!open && <SummaryText of={summary} />}
        </button>
      </div>
      <div id={`${id}-body`} hidden={!open}>
        {open && children}
      </div>
    </>
  );
}
