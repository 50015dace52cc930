/** List of jobs in the sidebar. */

import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { JobSummary } from '../../api/types';
import { jobSentence } from '../../jobs/sentence';
import {
  heightOf,
  ISections,
  Item,
  itemsOf,
  keepOrder,
  keyOf,
  mayWrap,
  SectionId
} from '../model/sidebar';
import { CommandIDs } from '../../tokens';
import { useWidth } from '../../common/hooks';
import { RunCommand } from '../../common/commands';
import { Icon } from '../../ui/Icon';
import { useWindow } from '../../common/grid/useWindow';
import { JobListRow } from './JobListRow';
import { SweepRow } from './SweepRow';
import { wraps } from './text';

/** Widths in px beside the sentence: paddings and icon, and the number of devices if there are any. */
const BESIDE = 40;
const DEVICES = 52;

interface IJobListProps {
  sections: ISections;
  folded: ReadonlySet<string>;
  /** Fold or unfold a section or a sweep, by its key. */
  onFold: (key: string) => void;
  /** Id of the job of the current tab. */
  current: string | null;
  /** Text after the title of the active section: “as of 10:42”. */
  note: string | null;
  /** Returns the location and owner of a job, without the parts in which no jobs differ. */
  locationOf: (job: JobSummary) => string;
  /** Returns the time at which a job's state was last known to be current, in seconds; null while it is current. */
  asOf: (job: JobSummary) => number | null;
  run: RunCommand;
  openMenu: (id: string, x: number, y: number) => void;
  trans: TranslationBundle;
}

/**
 * Active, finished and deleted jobs as a tree. The tree is one tab stop and keeps only visible rows in the
 * document.
 *
 * While the pointer or the focus is in the tree, the rows keep their order.
 */
export function JobList(props: IJobListProps): React.JSX.Element {
  const {
    folded,
    onFold,
    current,
    note,
    locationOf,
    asOf,
    run,
    openMenu,
    trans
  } = props;
  const [held, setHeld] = React.useState({ pointer: false, focus: false });
  const hold = (change: Partial<typeof held>): void =>
    setHeld(before => ({ ...before, ...change }));
  const shown = useHeldSections(props.sections, held.pointer || held.focus);
  // These values depend on all jobs, so they are memoized: scrolling must not compute them again.
  const items = React.useMemo(() => itemsOf(shown, folded), [shown, folded]);
  const keys = React.useMemo(() => items.map(keyOf), [items]);

  const content = React.useRef<HTMLDivElement>(null);
  const width = useWidth(content);
  const em = React.useRef<HTMLSpanElement>(null);
  // JupyterLab's font size in relation to the default of 13 px.
  const scale = Math.max(1, useWidth(em) / 13);
  const wrapped = (job: JobSummary): boolean =>
    mayWrap(job) &&
    wraps(
      jobSentence(job, trans),
      (width - BESIDE) / scale - (job.devices ? DEVICES : 0)
    );
  const heights = React.useMemo(
    () => items.map(item => Math.round(scale * heightOf(item, wrapped))),
    [items, width, scale, trans]
  );
  const list = useWindow(keys, heights);
  const focus = useFocus(keys, list.ref, list.reveal, held.focus);

  // Some browsers send a contextmenu event after the menu key. The flag makes the handler ignore this event.
  const byKey = React.useRef(false);
  const onMenu = React.useCallback(
    (id: string, x: number, y: number) => {
      if (!byKey.current) {
        openMenu(id, x, y);
      }
      byKey.current = false;
    },
    [openMenu]
  );
  const onKeyDown = (event: React.KeyboardEvent): void => {
    byKey.current = false;
    const index = keys.indexOf(focus.key);
    const item = items[index];
    const row = (event.target as HTMLElement).closest('[role="treeitem"]');
    if (!item || !row) {
      return;
    }
    if (event.target !== row && moveInRow(event, row as HTMLElement)) {
      event.preventDefault();
      return;
    }
    const move = target(event.key, index, items);
    if (move !== null) {
      focus.move(keys[move]);
    } else if (event.key === 'Enter' && event.target === row) {
      if (item.kind !== 'job') {
        onFold(keyOf(item));
      } else {
        run(CommandIDs.openJob, { id: item.job.id });
      }
    } else if (
      item.kind !== 'job' &&
      event.key === (item.folded ? 'ArrowRight' : 'ArrowLeft')
    ) {
      onFold(keyOf(item));
    } else if (event.key === 'ArrowRight' && item.kind !== 'section') {
      row.querySelector('button')?.focus();
    } else if (event.key === 'Delete' && item.kind === 'sweep') {
      run(CommandIDs.deleteSweep, { id: item.id });
    } else if (event.key === 'Delete' && item.kind === 'job') {
      const { id, deleted } = item.job;
      run(deleted ? CommandIDs.remove : CommandIDs.deleteJob, { id });
    } else if (isMenuKey(event) && item.kind !== 'section') {
      const { left, bottom } = row.getBoundingClientRect();
      byKey.current = true;
      openMenu(keyOf(item), left + 32, bottom);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  const [first, last] = list.range;
  const focused = keys.indexOf(focus.key);
  const rendered = items.slice(first, last).map((_, at) => first + at);
  if (focused >= 0 && focused < first) {
    rendered.unshift(focused);
  } else if (focused >= last) {
    rendered.push(focused);
  }

  return (
    <div className="jp-t9k-JobList">
      <span ref={em} className="jp-t9k-JobList-em" aria-hidden />
      <div
        className="jp-t9k-JobList-scroll"
        role="tree"
        aria-label={trans.__('Jobs')}
        ref={list.ref}
        onScroll={list.onScroll}
        onKeyDown={onKeyDown}
        onPointerDown={() => {
          byKey.current = false;
        }}
        onPointerEnter={() => hold({ pointer: true })}
        onPointerLeave={() => hold({ pointer: false })}
        onFocus={() => !held.focus && hold({ focus: true })}
        onBlur={event => {
          if (!event.currentTarget.contains(event.relatedTarget)) {
            hold({ focus: false });
          }
        }}
      >
        <div
          role="none"
          className="jp-t9k-JobList-content"
          ref={content}
          style={{ height: list.offsets[items.length] }}
        >
          {rendered.map(index => {
            const item = items[index];
            const key = keys[index];
            const place = { top: list.offsets[index], height: heights[index] };
            return item.kind === 'section' ? (
              <div
                key={key}
                data-key={key}
                className="jp-t9k-SectionTitle"
                role="treeitem"
                tabIndex={key === focus.key ? 0 : -1}
                aria-level={1}
                aria-expanded={!item.folded}
                style={place}
                onFocus={() => focus.set(key)}
                onClick={() => onFold(item.section)}
              >
                <SectionTitle item={item} note={note} trans={trans} />
              </div>
            ) : item.kind === 'sweep' ? (
              <SweepRow
                key={key}
                style={place}
                item={item}
                focusable={key === focus.key}
                onFocus={focus.set}
                onFold={onFold}
                onMenu={onMenu}
                openMenu={openMenu}
                trans={trans}
              />
            ) : (
              <JobListRow
                key={key}
                {...place}
                job={item.job}
                location={locationOf(item.job)}
                asOf={asOf(item.job)}
                current={key === current}
                wrapped={wrapped(item.job)}
                level={item.level}
                position={item.position}
                count={item.count}
                focusable={key === focus.key}
                onFocus={focus.set}
                onMenu={onMenu}
                run={run}
                openMenu={openMenu}
                trans={trans}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** Content of a section's title. */
function SectionTitle({
  item,
  note,
  trans
}: {
  item: Item & { kind: 'section' };
  note: string | null;
  trans: TranslationBundle;
}): React.JSX.Element {
  const caret = item.folded ? caretRightIcon : caretDownIcon;
  return (
    <>
      <Icon of={caret} />
      <span>{sectionName(item.section, trans)}</span>
      <small>
        {item.count}
        {note !== null && item.section === 'active' && ` · ${note}`}
      </small>
    </>
  );
}

function sectionName(section: SectionId, trans: TranslationBundle): string {
  switch (section) {
    case 'active':
      return trans.__('Active');
    case 'finished':
      return trans.__('Finished');
    case 'deleted':
      return trans.__('Deleted');
  }
}

/** Return the sections. While `held` is true, the rows keep their order and show their new content. */
function useHeldSections(sections: ISections, held: boolean): ISections {
  const last = React.useRef({ sections, held, shown: sections });
  const before = last.current;
  if (before.sections !== sections || before.held !== held) {
    const shown = held ? keepOrder(before.shown, sections) : sections;
    last.current = { sections, held, shown };
  }
  return last.current.shown;
}

/**
 * Keep the row that has the focus, or would get it by the Tab key.
 *
 * @param keys - Keys of the rows.
 * @param list - The element that contains the rows.
 * @param reveal - Scrolls a row into view, by its index.
 * @param hasFocus - True if the focus is in the list.
 */
function useFocus(
  keys: string[],
  list: React.RefObject<HTMLElement>,
  reveal: (index: number) => void,
  hasFocus: boolean
): { key: string; set: (key: string) => void; move: (key: string) => void } {
  const [key, set] = React.useState('');
  const wanted = React.useRef<string | null>(null);
  const place = React.useRef(0);
  const index = keys.indexOf(key);
  // The row was removed: the row at the same position replaces it.
  const present =
    index >= 0 ? key : (keys[Math.min(place.current, keys.length - 1)] ?? '');
  place.current = Math.max(0, keys.indexOf(present));
  if (index < 0 && key !== '' && hasFocus) {
    wanted.current = present;
  }
  React.useLayoutEffect(() => {
    if (wanted.current !== null) {
      const row = list.current?.querySelector<HTMLElement>(
        `[data-key="${CSS.escape(wanted.current)}"]`
      );
      wanted.current = null;
      row?.focus({ preventScroll: true });
    }
  });
  return {
    key: present,
    set,
    move: to => {
      wanted.current = to;
      reveal(keys.indexOf(to));
      set(to);
    }
  };
}

/**
 * Return the index of the row that a key moves the focus to; null for other keys.
 *
 * Letters and digits move to the next job whose name starts with them.
 */
function target(
  key: string,
  index: number,
  items: readonly Item[]
): number | null {
  switch (key) {
    case 'ArrowDown':
      return Math.min(items.length - 1, index + 1);
    case 'ArrowUp':
      return Math.max(0, index - 1);
    case 'Home':
      return 0;
    case 'End':
      return items.length - 1;
    case 'ArrowLeft':
      return parent(index, items);
  }
  if (!/^[\p{L}\p{N}]$/u.test(key)) {
    return null;
  }
  const order = [...items.keys()].map(i => (index + 1 + i) % items.length);
  const found = order.find(i => {
    const other = items[i];
    const name =
      other.kind === 'job' && (other.job.display_name ?? other.job.name);
    return name && name.toLowerCase().startsWith(key.toLowerCase());
  });
  return found ?? index;
}

/** Return the index of the title above a row: its sweep's or its section's; null for a title that can be folded. */
function parent(index: number, items: readonly Item[]): number | null {
  const item = items[index];
  if (item.kind === 'section' || (item.kind === 'sweep' && !item.folded)) {
    return null;
  }
  const kind = item.kind === 'job' && item.level === 3 ? 'sweep' : 'section';
  return items
    .slice(0, index)
    .map(other => other.kind)
    .lastIndexOf(kind);
}

/** Move the focus between the buttons of a row, or back to the row. Return false for other keys. */
function moveInRow(event: React.KeyboardEvent, row: HTMLElement): boolean {
  const buttons = [...row.querySelectorAll('button')];
  const index = buttons.indexOf(event.target as HTMLButtonElement);
  if (event.key === 'ArrowRight') {
    buttons[Math.min(buttons.length - 1, index + 1)].focus();
  } else if (event.key === 'ArrowLeft') {
    (buttons[index - 1] ?? row).focus();
  } else if (event.key === 'Escape') {
    row.focus();
  } else {
    return false;
  }
  return true;
}

function isMenuKey(event: React.KeyboardEvent): boolean {
  return event.key === 'ContextMenu' || (event.shiftKey && event.key === 'F10');
}
