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
  keepPlaces,
  keyOf,
  mayWrap,
  SectionId
} from '../model/sidebar';
import { CommandIDs } from '../../tokens';
import { useWidth } from '../../common/hooks';
import { RunCommand } from '../../common/commands';
import { Icon } from '../../ui/Icon';
import { useWindow } from '../../common/useWindow';
import { JobListRow } from './JobListRow';
import { wraps } from './text';

/** What is beside the sentence: paddings, icon, and devices where there are any. */
const BESIDE = 40;
const DEVICES = 52;

interface IJobListProps {
  sections: ISections;
  folded: ReadonlySet<string>;
  onFold: (section: SectionId) => void;
  /** Id of the job whose tab is in front. */
  current: string | null;
  /** Stands behind a section's title: “as of 10:42”. */
  note: string | null;
  /** Where a job is and whose, as far as that tells it from others. */
  placeOf: (job: JobSummary) => string;
  /** When a job's state was last known to be current, in seconds; null while it is. */
  asOf: (job: JobSummary) => number | null;
  run: RunCommand;
  openMenu: (id: string, x: number, y: number) => void;
  trans: TranslationBundle;
}

/** Active, finished and deleted jobs as a tree: one tab stop, windowed, still under the pointer. */
export function JobList(props: IJobListProps): React.JSX.Element {
  const { folded, onFold, current, note, placeOf, asOf, run, openMenu, trans } =
    props;
  const [held, setHeld] = React.useState({ pointer: false, focus: false });
  const hold = (change: Partial<typeof held>): void =>
    setHeld(before => ({ ...before, ...change }));
  const shown = useHeldSections(props.sections, held.pointer || held.focus);
  // All of what follows is of all jobs: it is done when they change, not when the list is scrolled.
  const items = React.useMemo(() => itemsOf(shown, folded), [shown, folded]);
  const keys = React.useMemo(() => items.map(keyOf), [items]);

  const content = React.useRef<HTMLDivElement>(null);
  const width = useWidth(content);
  const em = React.useRef<HTMLSpanElement>(null);
  // How much larger than 13 px the user has set the lab's text.
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

  // Some browsers send a contextmenu event after the menu key, others do not.
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
      if (item.kind === 'section') {
        onFold(item.section);
      } else {
        run(CommandIDs.openJob, { id: item.job.id });
      }
    } else if (event.key === 'ArrowRight' && item.kind === 'job') {
      row.querySelector('button')?.focus();
    } else if (
      item.kind === 'section' &&
      event.key === (item.folded ? 'ArrowRight' : 'ArrowLeft')
    ) {
      onFold(item.section);
    } else if (event.key === 'Delete' && item.kind === 'job') {
      const { id, deleted } = item.job;
      run(deleted ? CommandIDs.remove : CommandIDs.deleteJob, { id });
    } else if (isMenuKey(event) && item.kind === 'job') {
      const { left, bottom } = row.getBoundingClientRect();
      byKey.current = true;
      openMenu(item.job.id, left + 32, bottom);
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
            ) : (
              <JobListRow
                key={key}
                {...place}
                job={item.job}
                place={placeOf(item.job)}
                asOf={asOf(item.job)}
                current={key === current}
                wrapped={wrapped(item.job)}
                position={index - keys.indexOf(item.section)}
                count={shown[item.section]?.length}
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

/** The sections, or as long as they are held the same rows as before with their new content. */
function useHeldSections(sections: ISections, held: boolean): ISections {
  const last = React.useRef({ sections, held, shown: sections });
  const before = last.current;
  if (before.sections !== sections || before.held !== held) {
    const shown = held ? keepPlaces(before.shown, sections) : sections;
    last.current = { sections, held, shown };
  }
  return last.current.shown;
}

/** Which row has the focus, or would get it: the list is one tab stop. */
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
  // The row is gone: the next one takes its place.
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

/** The row that a key leads to; null if it leads to none. */
function target(
  key: string,
  index: number,
  items: readonly Item[]
): number | null {
  const item = items[index];
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
      return item.kind === 'job'
        ? items.findIndex(
            other => other.kind === 'section' && other.section === item.section
          )
        : null;
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

/** Move between a row's buttons, and back to the row. */
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
