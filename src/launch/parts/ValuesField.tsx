/** Field for several values of an option: one chip for each value or range. */
import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { joinItems, quoteItem, sweepItems } from '../content/sweep';
import { Icon } from '../../ui/Icon';
import { useLaunch } from './context';
import { useField } from './Row';

/** Properties of a field for several values. */
interface IValuesFieldProps {
  /** Name of the field, which its accessible names contain. */
  field: string;
  /** The values, separated by commas. */
  text: string;
  /** Values that the field suggests. */
  choices: readonly string[];
  onChange(text: string): void;
  /** Called with the values when the focus leaves the field. */
  onLeave(text: string): void;
}

/**
 * Text field that turns its text into a chip at each comma, and at the Enter key.
 *
 * The Backspace key removes the last chip. The Left arrow key moves the focus from the text to the chips, where the
 * arrow keys move between them and the Delete key removes one.
 */
export function ValuesField({
  field,
  text,
  choices,
  onChange,
  onLeave
}: IValuesFieldProps): React.JSX.Element {
  const { trans } = useLaunch();
  const props = useField(field);
  const root = React.useRef<HTMLSpanElement>(null);
  const input = React.useRef<HTMLInputElement>(null);
  const [typed, setTyped] = React.useState('');
  const items = sweepItems(text);
  const add = (more: string): string => {
    const added = sweepItems(more);
    setTyped('');
    const next = joinItems([...items, ...added]);
    if (added.length) {
      onChange(next);
    }
    return next;
  };
  const remove = (index: number): void => {
    onChange(joinItems(items.filter((_, at) => at !== index)));
    input.current?.focus(); // the button, which has the focus, disappears
  };
  const chips = (): HTMLButtonElement[] => [
    ...(root.current?.querySelectorAll('button') ?? [])
  ];
  const onType = (event: React.ChangeEvent<HTMLInputElement>): void => {
    const { value } = event.target;
    const quotes = value.match(/["']/g)?.length ?? 0;
    if (value.includes(',') && quotes % 2 === 0) {
      const rest = /[^,]*$/.exec(value)?.[0] ?? '';
      add(value.slice(0, value.length - rest.length));
      setTyped(rest.trimStart());
    } else {
      setTyped(value);
    }
  };
  const onKeyDown = (event: React.KeyboardEvent<HTMLInputElement>): void => {
    const isAtStart = event.currentTarget.selectionEnd === 0;
    if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) {
      add(typed);
    } else if (event.key === 'Backspace' && isAtStart && items.length) {
      remove(items.length - 1);
    } else if (event.key === 'ArrowLeft' && isAtStart && items.length) {
      chips()[items.length - 1].focus();
    } else {
      return;
    }
    event.preventDefault();
  };
  const onChipKeyDown = (event: React.KeyboardEvent, index: number): void => {
    if (event.key === 'ArrowLeft') {
      chips()[Math.max(0, index - 1)].focus();
    } else if (event.key === 'ArrowRight') {
      (chips()[index + 1] ?? input.current).focus();
    } else if (event.key === 'Delete' || event.key === 'Backspace') {
      remove(index);
    } else {
      return;
    }
    event.preventDefault();
  };
  const list = `${props.id}-values`;
  const left = choices.filter(choice => !items.includes(quoteItem(choice)));
  return (
    <span
      ref={root}
      className="jp-t9k-Launch-values"
      role="group"
      aria-label={trans.__('Values of %1', field)}
      onClick={event => event.target === root.current && input.current?.focus()}
      onBlur={event => {
        if (!event.currentTarget.contains(event.relatedTarget)) {
          onLeave(add(typed));
        }
      }}
    >
      {items.map((item, index) => (
        <span key={`${index} ${item}`} className="jp-t9k-Launch-value">
          <code>{item}</code>
          <button
            type="button"
            tabIndex={-1} // reached from the text with the arrow keys
            aria-label={trans.__('Remove %1', item)}
            onClick={() => remove(index)}
            onKeyDown={event => onChipKeyDown(event, index)}
          >
            <Icon of={closeIcon} />
          </button>
        </span>
      ))}
      <input
        ref={input}
        type="text"
        spellCheck={false}
        autoComplete="off"
        data-code
        {...props}
        list={left.length ? list : undefined}
        aria-label={trans.__('Add a value of %1', field)}
        value={typed}
        onChange={onType}
        onKeyDown={onKeyDown}
      />
      {left.length > 0 && (
        <datalist id={list}>
          {left.map(choice => (
            <option key={choice} value={quoteItem(choice)} />
          ))}
        </datalist>
      )}
    </span>
  );
}
