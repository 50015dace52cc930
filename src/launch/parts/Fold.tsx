import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Icon } from '../../ui/Icon';
import { useLaunch, useModel } from './context';
import { FoldName, placeOf } from './fieldNames';
import { IFolding } from './Group';
import { Summary, SummaryText } from './Summary';

interface IFoldProps {
  name: FoldName;
  title: string;
  /** Tells what is inside, on one line, for when it is folded. */
  summary: Summary;
  folding: IFolding;
  children: React.ReactNode;
}

/** Rows of a group that few need, folded to one line. */
export function Fold({
  name,
  title,
  summary,
  folding,
  children
}: IFoldProps): React.JSX.Element {
  const { trans, prefix } = useLaunch();
  // What is wrong is never hidden.
  const wrong = useModel(({ checks }) =>
    checks.some(
      ({ level, field }) =>
        level === 'error' && field && placeOf(field, trans)?.fold === name
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
