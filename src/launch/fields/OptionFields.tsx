/** Fields for the options of the job's script. */
import { undoIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { ScriptOption } from '../../api/types';
import {
  defaultValue,
  isChanged,
  optionKey,
  OptionValue
} from '../model/scriptOptions';
import { IconButton } from '../../ui/Buttons';
import { useLaunch, useModel } from '../parts/context';
import { FieldErrors, useField, useFieldId } from '../parts/Row';
import { Select } from '../parts/choices';
import { Spinner } from '../parts/NumberField';
import { TextField } from '../parts/TextField';

/** One field per option of the script; nothing if the script has none. */
export function OptionFields(): React.JSX.Element | null {
  const { trans, prefix } = useLaunch();
  const [changedOnly, setChangedOnly] = React.useState(false);
  const options = useModel(model => model.scriptOptions);
  const name = useModel(model => model.name);
  const changed = useModel(({ scriptOptions, form }) =>
    scriptOptions
      .filter(option => isChanged(option, form.values))
      .map(optionKey)
  );
  const wanted = useModel(({ checks }) =>
    changedOnly ? checks.map(check => check.field) : []
  );
  if (!options.length) {
    return null;
  }
  // Options with a check stay visible when the user hides unchanged options.
  const shown = changedOnly
    ? options.filter(option =>
        [...changed, ...wanted].includes(optionKey(option))
      )
    : options;
  const widest = Math.max(...options.map(option => optionKey(option).length));
  const id = `${prefix}options`;
  return (
    <div
      role="group"
      aria-labelledby={id}
      className="jp-t9k-Launch-options"
      style={{ '--jp-t9k-widest': widest } as React.CSSProperties}
    >
      <div className="jp-t9k-Launch-optionsHead">
        <h4 id={id}>{trans.__('Options of %1', name)}</h4>
        <span className="jp-t9k-caption">
          {trans.__('%1 found, %2 changed', options.length, changed.length)}
        </span>
        <label className="jp-t9k-Launch-check">
          <input
            type="checkbox"
            checked={changedOnly}
            onChange={event => setChangedOnly(event.target.checked)}
          />
          {trans.__('Changed only')}
        </label>
      </div>
      {shown.map(option => (
        <OptionRow
          key={optionKey(option)}
          option={option}
          changed={changed.includes(optionKey(option))}
        />
      ))}
    </div>
  );
}

/** Properties of the row of an option. */
interface IOptionRowProps {
  option: ScriptOption;
  /** True if the value differs from the default. */
  changed: boolean;
}

const OptionRow = React.memo(({ option, changed }: IOptionRowProps) => {
  const { model, trans } = useLaunch();
  const key = optionKey(option);
  const id = useFieldId(key);
  const standard = defaultText(option, trans);
  const help = option.help ?? '';
  const note = option.required
    ? trans.__('(required)')
    : changed && !/\bdefaults?\b/i.test(help)
      ? trans.__('(default %1)', standard)
      : '';
  return (
    <div className="jp-t9k-Launch-option" data-changed={changed}>
      <label htmlFor={id} title={option.flags.join(', ') || option.dest}>
        {key}
      </label>
      <span className="jp-t9k-Launch-optionControl">
        <OptionControl
          option={option}
          onChange={value => model.setOption(option, value)}
        />
      </span>
      <span
        id={`${id}-caption`}
        className="jp-t9k-Launch-help jp-t9k-caption"
        title={`${help} ${note}`}
      >
        {changed && (
          <span className="jp-t9k-visuallyHidden">
            {trans.__('changed, default %1', standard)}
          </span>
        )}
        {help && <span>{help}</span>}
        {note && <span>{note}</span>}
      </span>
      {changed ? (
        <IconButton
          icon={undoIcon}
          label={trans.__('Set %1 back to its default (%2)', key, standard)}
          onClick={() => {
            model.setOption(option, null);
            document.getElementById(id)?.focus(); // the button, which has the focus, disappears
          }}
        />
      ) : (
        <span />
      )}
      <FieldErrors field={key} />
    </div>
  );
});
OptionRow.displayName = 'OptionRow';

/** The control for an option's kind: a checkbox, a list, a number or a text. */
function OptionControl({
  option,
  onChange
}: {
  option: ScriptOption;
  onChange(value: OptionValue | null): void;
}): React.JSX.Element {
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
  if (option.choices.length && option.kind !== 'list') {
    const choices = option.choices.includes(text)
      ? option.choices
      : [text, ...option.choices];
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

/** Return the text for an option's default. */
function defaultText(option: ScriptOption, trans: TranslationBundle): string {
  const value = defaultValue(option);
  switch (value) {
    case null:
      return trans.__('none');
    case true:
      return trans.__('on');
    case false:
      return trans.__('off');
    default:
      return value;
  }
}
