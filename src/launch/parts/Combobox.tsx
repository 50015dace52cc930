/** Text field with a list of choices. */
import { caretDownIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Icon } from '../../ui/Icon';
import { allowedTexts } from '../content/locks';
import { useLaunch, useLock } from './context';
import { useField } from './Row';

/** A choice of a combobox. */
export interface IChoice {
  value: string;
  /** Description of the value. */
  note?: string | null;
  /** True if the choice is shown but can't be selected. */
  disabled?: boolean;
}

/** Properties of a combobox. */
interface IComboboxProps {
  field: string;
  value: string;
  /** Choices in the list. The user may type any other text. */
  choices: readonly IChoice[];
  onChange(text: string): void;
  onFocus?(): void;
  /** Report the typed text when the user leaves the field, not with every key. */
  lazy?: boolean;
  /** Use the code font. */
  code?: boolean;
  placeholder?: string;
  disabled?: boolean;
  'aria-label'?: string;
}

/**
 * Text field with a list of choices. The list shows all choices when it is opened, and the matching ones while the user
 * types.
 */
export function Combobox({
  field,
  value,
  choices: offered,
  onChange,
  lazy = false,
  code = false,
  disabled = false,
  ...props
}: IComboboxProps): React.JSX.Element {
  const { trans } = useLaunch();
  const { id, ...described } = useField(field);
  const { readOnly } = described;
  const lock = useLock(field);
  const allowed = lock && allowedTexts(lock);
  const choices = allowed
    ? allowed.map(
        text => offered.find(choice => choice.value === text) ?? { value: text }
      )
    : offered;
  const [typed, setTyped] = React.useState<string | null>(null);
  const [open, setOpen] = React.useState(false);
  const [active, setActive] = React.useState(-1);
  const input = React.useRef<HTMLInputElement>(null);
  const list = React.useRef<HTMLUListElement>(null);
  const shown = (lazy ? typed : null) ?? value;
  const fitting =
    typed === null
      ? choices
      : choices.filter(({ value: text }) =>
          text.toLowerCase().includes(typed.toLowerCase())
        );
  const isOpen = open && fitting.length > 0;

  React.useEffect(() => {
    if (isOpen) {
      const option = list.current?.children[Math.max(0, active)];
      option?.scrollIntoView({ block: 'nearest' });
    }
  }, [isOpen, active]);

  const show = () => {
    setOpen(true);
    setActive(fitting.findIndex(choice => choice.value === shown));
  };
  const close = () => {
    setOpen(false);
    setActive(-1);
  };
  const take = (text: string) => {
    setTyped(null);
    close();
    if (text !== value) {
      onChange(text);
    }
  };
  const choose = (choice: IChoice) => {
    if (!choice.disabled) {
      take(choice.value);
    }
  };
  const leave = () => {
    close();
    if (lazy && typed !== null) {
      take(typed);
    }
    setTyped(null);
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (readOnly) {
      return;
    }
    if (by) {
      event.preventDefault();
      if (isOpen) {
        const { length } = fitting;
        const from = active < 0 && by < 0 ? 0 : active;
        setActive((from + by + length) % length);
      } else {
        show();
      }
    } else if (event.key === 'Enter' && isOpen && active >= 0) {
      event.preventDefault();
      choose(fitting[active]);
    } else if (event.key === 'Enter') {
      leave();
    } else if (event.key === 'Escape' && isOpen) {
      event.stopPropagation();
      close();
    }
  };
  return (
    <span className="jp-t9k-Launch-combobox">
      <input
        ref={input}
        type="text"
        role="combobox"
        spellCheck={false}
        autoComplete="off"
        data-code={code}
        id={id}
        {...described}
        {...props}
        disabled={disabled}
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={`${id}-choices`}
        aria-activedescendant={
          isOpen && active >= 0 ? `${id}-choice-${active}` : undefined
        }
        value={shown}
        title={shown}
        onChange={event => {
          setTyped(event.target.value);
          setOpen(true);
          setActive(-1);
          if (!lazy) {
            onChange(event.target.value);
          }
        }}
        onKeyDown={onKeyDown}
        onBlur={leave}
      />
      {choices.length > 0 && !readOnly && (
        <button
          type="button"
          tabIndex={-1} // the arrow keys open the list
          disabled={disabled}
          aria-label={trans.__('Show the choices')}
          onMouseDown={event => {
            event.preventDefault();
            input.current?.focus();
            if (isOpen) {
              close();
            } else {
              setTyped(null);
              show();
            }
          }}
        >
          <Icon of={caretDownIcon} />
        </button>
      )}
      <ul
        ref={list}
        id={`${id}-choices`}
        role="listbox"
        aria-label={trans.__('Choices')}
        hidden={!isOpen}
      >
        {isOpen &&
          fitting.map((choice, index) => (
            <li
              key={choice.value}
              id={`${id}-choice-${index}`}
              role="option"
              aria-selected={index === active}
              aria-disabled={choice.disabled || undefined}
              onMouseDown={event => event.preventDefault()} // keep the focus in the field
              onClick={() => choose(choice)}
            >
              <span data-code={code}>{choice.value}</span>
              {choice.note && (
                <span className="jp-t9k-caption">{choice.note}</span>
              )}
            </li>
          ))}
      </ul>
    </span>
  );
}
