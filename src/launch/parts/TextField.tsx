import * as React from 'react';
import { absolutePath, shownPath } from '../../common/contentsPath';
import { formatSpan, parseSpan } from '../../common/durationInput';
import { useDraft, useLaunch, useModel } from './context';
import { useField } from './Row';

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
