/** Field of the filter expression, with completion of names. */
import { closeIcon, filterIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { complete, ICompletion, writeName } from '../../common/filter/complete';
import { Fields } from '../../common/filter/fields';
import { FilterProblem } from '../../common/filter/parse';
import { IconButton, LinkButton } from '../Buttons';
import { Icon } from '../Icon';
import { errorIcon } from '../icons';

interface IFilterFieldProps<Row> {
  /** Accessible name. */
  label: string;
  placeholder: string;
  /** The expression. */
  text: string;
  onChange(text: string): void;
  /** The error of the expression; null if it can be applied. */
  problem: FilterProblem | null;
  /** The error in words. */
  problemText: string;
  /** Number of rows that match: “12 of 46 runs”. */
  count: string;
  /** Fields that the expression can name, for the completion. */
  fields: Fields<Row>;
  /** Rows whose values give the ranges of the fields. */
  rows: readonly Row[];
  /** Return a number as a text, for the ranges of the fields. */
  format(value: number): string;
  trans: TranslationBundle;
}

/** Reads an expression while it is typed, and completes the names of fields. */
export function FilterField<Row>(
  props: IFilterFieldProps<Row>
): React.JSX.Element {
  const { text, problem, onChange, format, trans } = props;
  const prefix = React.useId();
  const input = React.useRef<HTMLInputElement>(null);
  const list = useCompletion(props, input);
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (list.onKeyDown(event)) {
      event.preventDefault();
      event.stopPropagation();
    } else if (event.key === 'Escape' && text) {
      event.stopPropagation();
      onChange('');
    }
  };
  return (
    <div
      className="jp-t9k-Runs-filter"
      data-invalid={problem !== null || undefined}
    >
      <Icon of={filterIcon} size={16} />
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label={props.label}
        aria-expanded={list.proposals.length > 0}
        aria-controls={`${prefix}list`}
        aria-activedescendant={
          list.active >= 0 ? `${prefix}${list.active}` : undefined
        }
        aria-autocomplete="list"
        aria-invalid={problem !== null}
        aria-describedby={`${prefix}problem`}
        autoComplete="off"
        spellCheck={false}
        placeholder={props.placeholder}
        value={text}
        onChange={event => {
          onChange(event.target.value);
          list.update(event.target);
        }}
        onKeyDown={onKeyDown}
        onBlur={list.close}
      />
      <span className="jp-t9k-caption" role="status">
        {props.count}
      </span>
      {text && (
        <IconButton
          icon={closeIcon}
          label={trans.__('Clear the filter')}
          onClick={() => {
            onChange('');
            input.current?.focus();
          }}
        />
      )}
      {list.proposals.length > 0 && (
        <ul role="listbox" id={`${prefix}list`} aria-label={trans.__('Names')}>
          {list.proposals.map(({ name, range }, index) => (
            <li
              key={name}
              id={`${prefix}${index}`}
              role="option"
              aria-selected={index === list.active}
              onPointerDown={event => {
                event.preventDefault(); // the field keeps the focus
                list.choose(index);
              }}
            >
              <code>{name}</code>
              <span>
                {range && `${format(range[0])} – ${format(range[1])}`}
              </span>
            </li>
          ))}
        </ul>
      )}
      <div id={`${prefix}problem`} className="jp-t9k-Runs-problem">
        {problem && (
          <Problem
            suggestion={problem.suggestion}
            text={props.problemText}
            fix={name => {
              onChange(replaced(text, problem.place, name));
              input.current?.focus();
            }}
            trans={trans}
          />
        )}
      </div>
    </div>
  );
}

function Problem({
  text,
  suggestion,
  fix,
  trans
}: {
  text: string;
  /** The name that the user may have meant; null if none is similar. */
  suggestion: string | null;
  fix(name: string): void;
  trans: TranslationBundle;
}): React.JSX.Element {
  return (
    <>
      <Icon of={errorIcon} size={16} />
      <span>{text}</span>
      {suggestion !== null && (
        <LinkButton onClick={() => fix(suggestion)}>
          {trans.__('Use %1', suggestion)}
        </LinkButton>
      )}
    </>
  );
}

function replaced(
  text: string,
  { start, end }: { start: number; end: number },
  name: string
): string {
  return text.slice(0, start) + writeName(name) + text.slice(end);
}

interface ICompletionList {
  proposals: ICompletion['proposals'];
  /** Index of the marked proposal; -1 if none is marked. */
  active: number;
  update(input: HTMLInputElement): void;
  choose(index: number): void;
  close(): void;
  /** Handle a key. Return true if the key belongs to the list. */
  onKeyDown(event: React.KeyboardEvent): boolean;
}

function useCompletion<Row>(
  { text, onChange, fields, rows }: IFilterFieldProps<Row>,
  input: React.RefObject<HTMLInputElement>
): ICompletionList {
  const [state, setState] = React.useState<ICompletion | null>(null);
  const [active, setActive] = React.useState(-1);
  const cursor = React.useRef<number | null>(null);
  React.useLayoutEffect(() => {
    if (cursor.current !== null) {
      input.current?.setSelectionRange(cursor.current, cursor.current);
      cursor.current = null;
    }
  });
  const proposals = state?.proposals ?? [];
  const close = (): void => {
    setState(null);
    setActive(-1);
  };
  const choose = (index: number): void => {
    if (state) {
      const { name } = state.proposals[index];
      cursor.current = state.start + writeName(name).length;
      onChange(replaced(text, state, name));
      close();
    }
  };
  const move = (by: number): void => {
    const { length } = proposals;
    setActive((active + by + length + (active < 0 && by < 0 ? 1 : 0)) % length);
  };
  const keys: Record<string, () => void> = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Escape: close
  };
  if (active >= 0) {
    keys.Enter = keys.Tab = () => choose(active);
  }
  return {
    proposals,
    active,
    update: element => {
      const at = element.selectionStart ?? element.value.length;
      setState(complete(element.value, at, fields, rows));
      setActive(-1);
    },
    choose,
    close,
    onKeyDown: event => {
      if (proposals.length === 0 || !Object.hasOwn(keys, event.key)) {
        return false;
      }
      keys[event.key]();
      return true;
    }
  };
}
