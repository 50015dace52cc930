/** Fields for a line of text, a path and a length of time. */
import * as React from 'react';
import { absolutePath, shownPath } from '../../common/contentsPath';
import { formatSpan, parseSpan } from '../../common/durationInput';
import { useDraft, useLaunch, useModel } from './context';
import { useField } from './Row';

/** Properties of a text field. */
interface ITextFieldProps extends Omit<
  React.InputHTMLAttributes<HTMLInputElement>,
  'onChange'
> {
  field: string;
  value: string;
  onChange(text: string): void;
  /** Use the code font, for paths, names and arguments. */
  code?: boolean;
}

/** Field for one line of text. */
export function TextField({
  field,
  value,
  onChange,
  code,
  ...props
}: ITextFieldProps): React.JSX.Element {
  const described = useField(field);
  return (
    <input
      type="text"
      spellCheck={false}
      autoComplete="off"
      data-code={code}
      {...described}
      {...props}
      value={value}
      onChange={event => described.readOnly || onChange(event.target.value)}
    />
  );
}

/** Properties of a path's field. */
interface IPathFieldProps {
  field: string;
  /** Absolute path; the field shows it relative to the lab's root. */
  path: string;
  onChange(path: string): void;
  placeholder?: string;
}

/** Field for a path. It reports the path when the user leaves the field, so no request is sent for a partial path. */
export function PathField({
  path,
  onChange,
  ...props
}: IPathFieldProps): React.JSX.Element {
  const draft = useDraft(props.field);
  const root = useModel(({ state }) => state.prefill?.root ?? null);
  // Other engines may have the file at another path than the lab, so they show the absolute path.
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

/** Properties of the field of a length of time. */
interface ISpanFieldProps {
  field: string;
  seconds: number | null;
  placeholder: string;
  disabled?: boolean;
  onChange(seconds: number | null): void;
}

/** Field for a length of time with its unit, such as 12h; it may be empty. */
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
        'Enter a duration with its unit, such as 12h, 90 min or 1h 30min.'
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
