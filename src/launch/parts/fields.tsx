import {
  caretDownEmptyThinIcon,
  caretDownIcon,
  caretUpEmptyThinIcon,
  LabIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';
import { Fix } from '../../api/types';
import { errorIcon, warningIcon } from '../../ui/icons';
import { absolutePath, shownPath } from '../../common/contentsPath';
import { MISSING } from '../model/problems';
import { formatSpan, parseSpan } from '../../common/durationInput';
import { LinkButton } from '../../ui/Buttons';
import { Icon } from '../../ui/Icon';
import { useChecks, useDraft, useLaunch, useModel } from './context';
import { placeOf } from './fieldNames';
import { SourceLink } from './SourceLink';

interface IFieldProps {
  id: string;
  'data-field': string;
  'aria-invalid': boolean | undefined;
  'aria-describedby': string;
}

/** The id of a field's element. */
export function useFieldId(field: string): string {
  return `${useLaunch().prefix}${field}`;
}

/** What ties a control to its label, its caption and its errors. */
export function useField(field: string): IFieldProps {
  const id = useFieldId(field);
  const invalid = useModel(({ checks }) =>
    checks.some(check => check.level === 'error' && check.field === field)
  );
  return {
    id,
    'data-field': field,
    'aria-invalid': invalid || undefined,
    'aria-describedby': `${id}-caption ${id}-errors`
  };
}

/** What is wrong with a field, in words, below it. */
export function FieldErrors({ field }: { field: string }): React.JSX.Element {
  const { model, reveal } = useLaunch();
  const fixAt = (fix: Fix): void => {
    model.applyFix(fix, field);
    reveal(field); // the button goes with the problem
  };
  const problems = useChecks(
    check =>
      check.field === field &&
      (check.level === 'error' || check.level === 'warning') &&
      check.code !== MISSING // its placeholder says so
  );
  return (
    <div id={`${useFieldId(field)}-errors`} className="jp-t9k-Launch-errors">
      {problems.map(({ level, message, hint, link, fix }) => {
        const icon = level === 'error' ? errorIcon : warningIcon;
        return (
          <div key={message} data-level={level}>
            <span>
              <Icon of={icon} />
            </span>
            <span>
              {message} {hint} <SourceLink link={link} />
              {fix && (
                <LinkButton onClick={() => fixAt(fix)}>{fix.label}</LinkButton>
              )}
            </span>
          </div>
        );
      })}
    </div>
  );
}

interface IRowProps {
  /** The field that the label and the caption belong to. */
  field: string;
  caption?: React.ReactNode;
  /** Further fields in the row. */
  others?: string[];
  /** What the row is called, where that is not the field's name. */
  label?: string;
  /** The row holds a group of controls, which the label names together. */
  group?: boolean;
  children: React.ReactNode;
}

/** A label, its control, and what there is to say about it. */
export function Row({
  field,
  caption,
  others = [],
  label: ownLabel,
  group = false,
  children
}: IRowProps): React.JSX.Element {
  const { trans } = useLaunch();
  const id = useFieldId(field);
  const label = ownLabel ?? placeOf(field, trans)?.name;
  const edited = useModel(
    ({ state: { lastEdited } }) =>
      lastEdited !== null && [field, ...others].includes(lastEdited)
  );
  return (
    <div className="jp-t9k-Launch-row" data-edited={edited || undefined}>
      {group ? (
        <span id={`${id}-label`} className="jp-t9k-Launch-label">
          {label}
        </span>
      ) : (
        <label htmlFor={id} className="jp-t9k-Launch-label">
          {label}
        </label>
      )}
      <div className="jp-t9k-Launch-control">
        <div className="jp-t9k-Launch-line">{children}</div>
        <div id={`${id}-caption`} className="jp-t9k-caption">
          {caption}
        </div>
        {[field, ...others].map(each => (
          <FieldErrors key={each} field={each} />
        ))}
      </div>
    </div>
  );
}

interface ITextFieldProps extends Omit<
  React.InputHTMLAttributes<HTMLInputElement>,
  'onChange'
> {
  field: string;
  value: string;
  onChange(text: string): void;
  /** Paths, names and arguments are set in the code font. */
  code?: boolean;
}

/** One line of text. */
export function TextField({
  field,
  value,
  onChange,
  code,
  ...props
}: ITextFieldProps): React.JSX.Element {
  return (
    <input
      type="text"
      spellCheck={false}
      autoComplete="off"
      data-code={code}
      {...useField(field)}
      {...props}
      value={value}
      onChange={event => onChange(event.target.value)}
    />
  );
}

interface IPathFieldProps {
  field: string;
  /** Absolute; shown from the lab's root on. */
  path: string;
  onChange(path: string): void;
  placeholder?: string;
}

/** A path; taken over when the field is left, so that no half of one is looked up. */
export function PathField({
  path,
  onChange,
  ...props
}: IPathFieldProps): React.JSX.Element {
  const draft = useDraft(props.field);
  const root = useModel(({ state }) => state.prefill?.root ?? null);
  // A job elsewhere may see a file at another path than the lab.
  const isSame = useModel(({ facts }) => facts.shares_lab_filesystem);
  const shown = draft ?? shownPath(path, isSame ? root : null);
  const [typed, setTyped] = React.useState<string | null>(null);
  const commit = () => {
    if (typed !== null && typed !== shown) {
      onChange(absolutePath(typed, root));
    }
    setTyped(null);
  };
  return (
    <TextField
      code
      {...props}
      value={typed ?? shown}
      title={path}
      onChange={setTyped}
      onBlur={commit}
      onKeyDown={event => {
        if (event.key === 'Enter') {
          commit();
        }
      }}
    />
  );
}

interface ISpinnerProps extends Omit<
  React.InputHTMLAttributes<HTMLInputElement>,
  'onChange'
> {
  text: string;
  onChange(text: string): void;
  min?: number;
  max?: number;
  /** Where stepping begins while the field is empty. */
  start?: number;
}

/** A whole number with buttons for one more and one less; holds any text. */
export function Spinner({
  text,
  onChange,
  min = -Infinity,
  max = Infinity,
  start = 0,
  ...props
}: ISpinnerProps): React.JSX.Element {
  const { trans } = useLaunch();
  const step = (by: number) => {
    const now = /^[+-]?\d+$/.test(text) ? Number(text) : start;
    onChange(String(Math.min(max, Math.max(min, now + by))));
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (by) {
      event.preventDefault();
      step(by);
    }
  };
  const button = (by: number, label: string, icon: LabIcon) => (
    <button
      type="button"
      tabIndex={-1} // the arrow keys do the same
      aria-label={label}
      disabled={props.disabled}
      onClick={() => step(by)}
    >
      <Icon of={icon} />
    </button>
  );
  return (
    <span className="jp-t9k-Launch-spinner">
      <input
        type="text"
        role="spinbutton"
        inputMode="numeric"
        autoComplete="off"
        aria-valuenow={/^[+-]?\d+$/.test(text) ? Number(text) : undefined}
        {...props}
        value={text}
        onChange={event => onChange(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <span>
        {button(1, trans.__('More'), caretUpEmptyThinIcon)}
        {button(-1, trans.__('Less'), caretDownEmptyThinIcon)}
      </span>
    </span>
  );
}

interface INumberFieldProps {
  field: string;
  value: number | null;
  min: number;
  max: number;
  onChange(value: number): void;
  /** The field may be empty. */
  onClear?(): void;
  'aria-label'?: string;
  disabled?: boolean;
}

/** A whole number of the spec; as wide as the number. */
export function NumberField({
  field,
  value,
  min,
  max,
  onChange,
  onClear,
  ...props
}: INumberFieldProps): React.JSX.Element {
  const { model, trans } = useLaunch();
  const text = useDraft(field) ?? String(value ?? '');
  return (
    <Spinner
      {...useField(field)}
      {...props}
      text={text}
      min={min}
      max={max}
      style={{ width: `calc(${Math.max(4, text.length + 1)}ch + 40px)` }}
      onChange={next => {
        const number = Number(next);
        if (/^\d+$/.test(next) && number >= min && number <= max) {
          onChange(number);
        } else if (!next.trim() && onClear) {
          onClear();
        } else {
          const problem = trans.__('A whole number from %1 to %2.', min, max);
          model.setDraft(field, { text: next, problem });
        }
      }}
    />
  );
}

interface ISpanFieldProps {
  field: string;
  seconds: number | null;
  placeholder: string;
  disabled?: boolean;
  onChange(seconds: number | null): void;
}

/** A length of time with its unit; may be empty. */
export function SpanField({
  field,
  seconds,
  onChange,
  ...props
}: ISpanFieldProps): React.JSX.Element {
  const { model, trans } = useLaunch();
  const draft = useDraft(field);
  const [typed, setTyped] = React.useState<string | null>(null);
  const change = (text: string) => {
    setTyped(text);
    const span = text.trim() ? parseSpan(text) : null;
    if (span !== null || !text.trim()) {
      onChange(span);
    } else {
      const problem = trans.__(
        'Give a time with its unit, such as 12h, 90 min or 1h 30min.'
      );
      model.setDraft(field, { text, problem });
    }
  };
  return (
    <TextField
      {...props}
      field={field}
      value={draft ?? typed ?? (seconds === null ? '' : formatSpan(seconds))}
      size={12}
      onChange={change}
      onBlur={() => setTyped(null)}
    />
  );
}

interface ISelectProps extends React.SelectHTMLAttributes<HTMLSelectElement> {
  children: React.ReactNode;
}

/** A choice from a list. */
export function Select({
  children,
  ...props
}: ISelectProps): React.JSX.Element {
  return (
    <span className="jp-t9k-Launch-select">
      <select {...props}>{children}</select>
      <Icon of={caretDownIcon} />
    </span>
  );
}

interface ICheckFieldProps {
  field: string;
  checked: boolean;
  onChange(checked: boolean): void;
  disabled?: boolean;
  children: React.ReactNode;
}

/** A box to tick, with its words behind it. */
export function CheckField({
  field,
  checked,
  onChange,
  disabled,
  children
}: ICheckFieldProps): React.JSX.Element {
  return (
    <label className="jp-t9k-Launch-check">
      <input
        type="checkbox"
        {...useField(field)}
        disabled={disabled}
        checked={checked}
        onChange={event => onChange(event.target.checked)}
      />
      {children}
    </label>
  );
}
