/** Tab bar inside of a view. */

import * as React from 'react';

/** One tab. */
export interface IInnerTab<Key extends string> {
  key: Key;
  label: string;
  /** Number shown after the label. */
  count?: number;
}

interface IInnerTabsProps<Key extends string> {
  tabs: readonly IInnerTab<Key>[];
  current: Key;
  label: string;
  /** Id of the panel element that the tabs control. */
  panel: string;
  select(key: Key): void;
}

/**
 * Return the id of the tab element that labels the panel.
 *
 * @param panel - Id of the panel element.
 * @param key - Key of the tab.
 */
export function tabId(panel: string, key: string): string {
  return `${panel}-${key}`;
}

/**
 * A tab bar inside of a view. It is one tab stop; arrow keys, Home and End select a tab. Where the view is narrower than
 * the tabs, the bar has several lines.
 */
export function InnerTabs<Key extends string>(
  props: IInnerTabsProps<Key>
): React.JSX.Element {
  const { tabs, current, panel, select } = props;
  const onKeyDown = (event: React.KeyboardEvent<HTMLElement>): void => {
    const index = tabs.findIndex(tab => tab.key === current);
    const to: Record<string, number> = {
      ArrowLeft: (index + tabs.length - 1) % tabs.length,
      ArrowRight: (index + 1) % tabs.length,
      Home: 0,
      End: tabs.length - 1
    };
    if (event.key in to) {
      const place = to[event.key];
      const buttons = event.currentTarget.querySelectorAll('button');
      select(tabs[place].key);
      buttons[place].focus();
      event.preventDefault();
    }
  };
  return (
    <div
      className="jp-t9k-InnerTabs"
      role="tablist"
      aria-label={props.label}
      onKeyDown={onKeyDown}
    >
      {tabs.map(({ key, label, count }) => (
        <button
          key={key}
          id={tabId(panel, key)}
          type="button"
          role="tab"
          aria-selected={key === current}
          aria-controls={panel}
          tabIndex={key === current ? 0 : -1}
          onClick={() => select(key)}
        >
          {label}
          {count !== undefined && (
            <span className="jp-t9k-caption">{count}</span>
          )}
        </button>
      ))}
    </div>
  );
}
