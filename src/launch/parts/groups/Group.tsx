/** Group of fields that folds to one line. */
import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { errorIcon, warningIcon } from '../../../ui/icons';
import { lockIcon } from '../../../ui/pageIcons';
import { Icon } from '../../../ui/Icon';
import { useLaunch, useModel } from '../context';
import { FoldName, GroupName, describeField } from '../fieldNames';
import { Summary, SummaryText } from './Summary';

/** State of the form's groups and folds. */
export interface IFolding {
  /** Return true if a group or fold is open. */
  isOpen(group: GroupName | FoldName): boolean;
  /** Open or close a group or fold. */
  toggle(group: GroupName | FoldName): void;
}

/** Properties of a group. */
interface IGroupProps {
  name: GroupName;
  title: string;
  /** Returns a one-line summary of the content, shown while the group is closed. */
  summary: Summary;
  folding: IFolding;
  children: React.ReactNode;
}

/** Group of fields. Its header counts the errors or warnings of its fields. */
export function Group({
  name,
  title,
  summary,
  folding,
  children
}: IGroupProps): React.JSX.Element {
  const { trans, prefix } = useLaunch();
  const open = folding.isOpen(name);
  const isLocked = useModel(model => model.isLocked);
  const [errors, warnings] = useModel(({ checks }) =>
    ['error', 'warning'].map(
      level =>
        checks.filter(
          check =>
            check.level === level &&
            check.field &&
            describeField(check.field, trans)?.group === name
        ).length
    )
  );
  const locked = useModel(
    ({ locks }) =>
      new Set(
        [...locks]
          .filter(
            ([field, { rule }]) =>
              rule === 'value' && describeField(field, trans)?.group === name
          )
          .map(([, lock]) => lock)
      ).size
  );
  const caret = open ? caretDownIcon : caretRightIcon;
  const id = `${prefix}group-${name}`;
  return (
    <section className="jp-t9k-Launch-group" aria-labelledby={id}>
      <h3>
        <button
          type="button"
          id={id}
          aria-expanded={open}
          aria-controls={`${id}-body`}
          onClick={() => folding.toggle(name)}
        >
          <Icon of={caret} />
          <span>{title}</span>
          {!open && <SummaryText of={summary} />}
          {locked > 0 && (
            <span className="jp-t9k-Launch-count" data-level="lock">
              <Icon of={lockIcon} />
              {trans._n('%1 field locked', '%1 fields locked', locked)}
            </span>
          )}
          {errors > 0 && (
            <span className="jp-t9k-Launch-count" data-level="error">
              <Icon of={errorIcon} />
              {trans._n('%1 error', '%1 errors', errors)}
            </span>
          )}
          {errors === 0 && warnings > 0 && (
            <span className="jp-t9k-Launch-count" data-level="warning">
              <Icon of={warningIcon} />
              {trans._n('%1 warning', '%1 warnings', warnings)}
            </span>
          )}
        </button>
      </h3>
      <fieldset
        id={`${id}-body`}
        className="jp-t9k-Launch-body"
        aria-label={title}
        hidden={!open}
        disabled={isLocked}
      >
        {open && children}
      </fieldset>
    </section>
  );
}
