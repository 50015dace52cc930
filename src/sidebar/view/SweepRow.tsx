/** Title of a sweep in the list. */
import {
  caretDownIcon,
  caretRightIcon,
  ellipsesIcon
} from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { ISweepItem, keyOf, sweepText } from '../model/sidebar';
import { Icon } from '../../ui/Icon';

interface ISweepRowProps {
  item: ISweepItem;
  style: React.CSSProperties;
  /** True if the row is the list's tab stop. */
  focusable: boolean;
  onFocus: (key: string) => void;
  onFold: (key: string) => void;
  /** Called with a point of the page when the user requests the context menu. */
  onMenu: (key: string, x: number, y: number) => void;
  /** Open the menu of the sweep's actions at a point of the page, in px. */
  openMenu: (key: string, x: number, y: number) => void;
  trans: TranslationBundle;
}

/** Name of a sweep, the states of its jobs, and its actions. A click folds or unfolds its jobs. */
export function SweepRow({
  item,
  style,
  focusable,
  onFocus,
  onFold,
  onMenu,
  openMenu,
  trans
}: ISweepRowProps): React.JSX.Element {
  const key = keyOf(item);
  const text = sweepText(item.jobs, trans);
  const label = trans.__('Actions of sweep %1', item.name);
  return (
    <div
      data-key={key}
      className="jp-t9k-SweepRow"
      role="treeitem"
      tabIndex={focusable ? 0 : -1}
      aria-level={2}
      aria-setsize={item.count}
      aria-posinset={item.position}
      aria-expanded={!item.folded}
      aria-label={trans.__(
        'Sweep %1, %2',
        item.name,
        text.replace(/ · /g, ', ')
      )}
      style={style}
      onFocus={() => onFocus(key)}
      onClick={() => onFold(key)}
      onContextMenu={event => {
        event.preventDefault();
        event.stopPropagation();
        onMenu(key, event.clientX, event.clientY);
      }}
    >
      <Icon of={item.folded ? caretRightIcon : caretDownIcon} />
      <span className="jp-t9k-SweepRow-name" title={item.name}>
        {item.name}
      </span>
      <small title={text}>{text}</small>
      <button
        type="button"
        tabIndex={-1}
        className="jp-t9k-IconButton"
        aria-label={label}
        title={label}
        onClick={event => {
          event.stopPropagation();
          const { left, bottom } = event.currentTarget.getBoundingClientRect();
          openMenu(key, left, bottom);
        }}
      >
        <Icon of={ellipsesIcon} size={16} />
      </button>
    </div>
  );
}
