/** Control of an option of the job's script. */
import * as React from 'react';
import { ScriptOption } from '../../../api/types';
import {
  defaultValue,
  optionKey,
  OptionValue
} from '../../content/scriptOptions';
import { isSeveral, splitsAtCommas } from '../../content/sweep';
import { useLaunch, useModel } from '../../parts/context';
import { useField, useFieldId } from '../../parts/Row';
import { Select } from '../../parts/choices';
import { Spinner } from '../../parts/NumberField';
import { TextField } from '../../parts/TextField';
import { ValuesField } from '../../parts/ValuesField';

/** Properties of the control of an option. */
interface IOptionControlProps {
  option: ScriptOption;
  /** True to leave out the small buttons of the control. */
  bare: boolean;
  onChange(value: OptionValue | null): void;
}

/** The control of an option: a field for several values in a sweep, else a field for one value. */
export function OptionControl(props: IOptionControlProps): React.JSX.Element {
  const { option } = props;
  const { model } = useLaunch();
  const key = optionKey(option);
  const text = useModel(({ sweep }) => sweep.values[key] ?? null);
  const id = useFieldId(key);
  const [isNew, setNew] = React.useState(false);
  // The control was replaced while the user typed, so its successor gets the focus.
  React.useEffect(() => {
    if (isNew) {
      document.getElementById(id)?.focus();
      setNew(false);
    }
  }, [isNew, id]);
  if (text !== null) {
    return (
      <ValuesField
        field={key}
        text={text}
        choices={option.choices}
        onChange={next => model.setValues(option, next)}
        onLeave={next => isSeveral(next) || model.setValues(option, null)}
      />
    );
  }
  return (
    <ValueControl
      {...props}
      onChange={value => {
        if (
          typeof value === 'string' &&
          value.includes(',') &&
          splitsAtCommas(option)
        ) {
          setNew(true);
          model.setValues(option, value);
        } else {
          props.onChange(value);
        }
      }}
    />
  );
}

/** The control for an option's kind: a checkbox, a list, a number or a text. */
function ValueControl({
  option,
  bare,
  onChange
}: IOptionControlProps): React.JSX.Element {
  const { trans } = useLaunch();
  const key = optionKey(option);
  const field = useField(key);
  const given = useModel(({ form }) => form.values[key] ?? null);
  const value = given ?? defaultValue(option);
  const text = typeof value === 'string' ? value : '';
  const empty = option.required ? trans.__('needed') : trans.__('not set');
  if (option.kind === 'flag') {
    return (
      <input
        type="checkbox"
        {...field}
        checked={value === true}
        onChange={event => {
          const { checked } = event.target;
          const unset = !checked && defaultValue(option) === null;
          onChange(unset ? null : checked);
        }}
      />
    );
  }
  const offered =
    option.kind === 'boolean' ? ['True', 'False'] : option.choices;
  if (offered.length && option.kind !== 'list') {
    const choices = offered.includes(text) ? offered : [text, ...offered];
    return (
      <Select
        {...field}
        value={text}
        onChange={event => onChange(event.target.value || null)}
      >
        {choices.map(choice => (
          <option key={choice} value={choice}>
            {choice || empty}
          </option>
        ))}
      </Select>
    );
  }
  if (option.kind === 'int') {
    return (
      <Spinner
        {...field}
        data-code
        bare={bare}
        text={text}
        placeholder={empty}
        aria-required={option.required || undefined}
        onChange={next => onChange(next || null)}
      />
    );
  }
  return (
    <TextField
      code
      field={key}
      value={text}
      title={text}
      placeholder={empty}
      aria-required={option.required || undefined}
      onChange={next => onChange(next || null)}
    />
  );
}
