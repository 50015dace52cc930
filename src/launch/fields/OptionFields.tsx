/** Fields for the options of the job's script. */
import { addIcon, undoIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { ScriptOption } from '../../api/types';
import { isNotebookOption } from '../content/notebookCells';
import {
  activeOptions,
  defaultValue,
  isChanged,
  optionKey,
  optionName,
  OptionValue
} from '../content/scriptOptions';
import { canSweep, isRange, quoteItem, splitsAtCommas } from '../content/sweep';
import { useGrowing } from '../../common/hooks';
import { IconButton, LinkButton } from '../../ui/Buttons';
import { useLaunch, useModel } from '../parts/context';
import { chooseRows } from '../parts/rows';
import { FieldErrors, useFieldId } from '../parts/Row';
import { OptionControl } from './options/OptionControl';
import { sentences } from '../../common/format';

/** Number of rows that are rendered with the form: more than a screen shows. */
const FIRST_ROWS = 40;
/** Number of rows from which the small buttons of a row are drawn only while the row is pointed at or focused. */
const MANY_ROWS = 100;
/** Number of rows that are rendered in one task afterwards. */
const MORE_ROWS = 20;
/** Number of rows that the browser lays out and paints together, or leaves out because they are out of view. */
const BLOCK_ROWS = 10;

/** One field per option of the script; nothing if the script has none. */
export function OptionFields(): React.JSX.Element | null {
  const { model, actions, trans, prefix } = useLaunch();
  const hasRows = useModel(({ sweep }) => !!sweep.rowsPath);
  const [changedOnly, setChangedOnly] = React.useState(false);
  const options = useModel(({ scriptOptions, form }) =>
    activeOptions(scriptOptions, form.values).filter(
      option => !isNotebookOption(option)
    )
  );
  const parametersCell = useModel(
    ({ notebook }) => notebook?.parameters_cell ?? null
  );
  const name = useModel(model => model.name);
  const changed = useModel(({ scriptOptions, form, original, differences }) =>
    scriptOptions
      .filter(
        option =>
          !isNotebookOption(option) &&
          (original
            ? differences.includes(optionKey(option))
            : isChanged(option, form.values))
      )
      .map(optionKey)
  );
  const swept = useModel(({ scriptOptions, sweep }) =>
    scriptOptions.map(optionKey).filter(key => key in sweep.values)
  );
  const touched = new Set([...changed, ...swept]);
  const checked = useModel(({ checks }) => checks.map(check => check.field));
  // Links lead to options that are changed or have a check, so their rows exist at once.
  const isWanted = (option: ScriptOption): boolean =>
    touched.has(optionKey(option)) || checked.includes(optionKey(option));
  const wanted = options.map(isWanted).lastIndexOf(true) + 1;
  const rendered = useGrowing(
    options.length,
    Math.max(FIRST_ROWS, wanted),
    MORE_ROWS
  );
  if (!options.length) {
    return null;
  }
  // Options with a check stay visible when the user hides unchanged options.
  const shown = changedOnly ? options.filter(isWanted) : options;
  const blocks = blocksOf(shown.slice(0, rendered));
  const many = options.length >= MANY_ROWS;
  const widest = Math.max(...options.map(option => optionName(option).length));
  const id = `${prefix}options`;
  return (
    <div
      role="group"
      aria-labelledby={id}
      className="jp-t9k-Launch-options"
      data-many={many || undefined}
      style={{ '--jp-t9k-widest': widest } as React.CSSProperties}
    >
      <div className="jp-t9k-Launch-optionsHead">
        <h4 id={id}>
          {parametersCell === null
            ? trans.__('Options of %1', name)
            : trans.__('Parameters of cell %1', parametersCell)}
        </h4>
        <span className="jp-t9k-caption">
          {swept.length
            ? trans.__(
                '%1 found, %2 changed, %3 with several values',
                options.length,
                touched.size,
                swept.length
              )
            : trans.__('%1 found, %2 changed', options.length, touched.size)}
        </span>
        {!hasRows && (
          <LinkButton onClick={() => void chooseRows(model, actions)}>
            {trans.__('Values from a file…')}
          </LinkButton>
        )}
        <label className="jp-t9k-Launch-check">
          <input
            type="checkbox"
            checked={changedOnly}
            onChange={event => setChangedOnly(event.target.checked)}
          />
          {trans.__('Changed only')}
        </label>
      </div>
      {blocks.map((block, number) => (
        <div
          key={number}
          className="jp-t9k-Launch-optionsBlock"
          style={{ '--jp-t9k-rows': block.length } as React.CSSProperties}
        >
          {block.map((option, index) => {
            const before = shown[number * BLOCK_ROWS + index - 1];
            return (
              <React.Fragment key={optionKey(option)}>
                {option.group && option.group !== before?.group && (
                  <h5 className="jp-t9k-Launch-optionsGroup">{option.group}</h5>
                )}
                <OptionRow
                  option={option}
                  changed={changed.includes(optionKey(option))}
                  many={many}
                />
              </React.Fragment>
            );
          })}
        </div>
      ))}
    </div>
  );
}

/** Return the options in blocks of `BLOCK_ROWS`. */
function blocksOf(options: readonly ScriptOption[]): ScriptOption[][] {
  const blocks: ScriptOption[][] = [];
  for (let start = 0; start < options.length; start += BLOCK_ROWS) {
    blocks.push(options.slice(start, start + BLOCK_ROWS));
  }
  return blocks;
}

/** Properties of the row of an option. */
interface IOptionRowProps {
  option: ScriptOption;
  /** True if the value differs from the default. */
  changed: boolean;
  /** True if the form has so many rows that the small buttons are drawn when the row is first pointed at or focused. */
  many: boolean;
}

const OptionRow = React.memo(({ option, changed, many }: IOptionRowProps) => {
  const { model, trans } = useLaunch();
  const [isUsed, setUsed] = React.useState(false);
  const bare = many && !isUsed;
  const use = (): void => setUsed(true);
  const key = optionKey(option);
  const id = useFieldId(key);
  const { isSwept, count, original } = useModel(now => ({
    isSwept: key in now.sweep.values,
    count: now.sweepJobs.valueCount(optionName(option)),
    original: now.originalOption(option)
  }));
  const standard = defaultText(option, trans);
  const was =
    original === undefined || !changed
      ? null
      : original === null
        ? trans.__('was not set')
        : trans.__('was %1', valueText(original, trans));
  const help = option.help ?? '';
  const note = option.required
    ? trans.__('(required)')
    : changed && !/\bdefaults?\b/i.test(help)
      ? trans.__('(default %1)', standard)
      : '';
  const facts = optionFacts(option, trans);
  return (
    <div
      className="jp-t9k-Launch-option"
      data-changed={changed || isSwept}
      onPointerEnter={use}
      onFocus={use}
    >
      <label
        htmlFor={id}
        title={[option.command, option.flags.join(', ') || option.dest]
          .filter(Boolean)
          .join(' ')}
      >
        {optionName(option)}
      </label>
      <span
        className="jp-t9k-Launch-optionControl"
        onBlur={() => {
          const text = model.form.values[key];
          if (
            typeof text === 'string' &&
            splitsAtCommas(option) &&
            isRange(text)
          ) {
            model.setValues(option, text);
          }
        }}
      >
        <OptionControl
          option={option}
          bare={bare}
          onChange={value => model.setOption(option, value)}
        />
      </span>
      <span
        id={`${id}-caption`}
        className="jp-t9k-Launch-help jp-t9k-caption"
        title={sentences([help, note, ...facts])}
      >
        {was && <span className="jp-t9k-Launch-was">{was}</span>}
        {changed && !was && (
          <span className="jp-t9k-visuallyHidden">
            {trans.__('changed, default %1', standard)}
          </span>
        )}
        {count > 1 && (
          <strong>{trans._n('%1 value', '%1 values', count)}</strong>
        )}
        {help && <span>{help}</span>}
        {note && <span>{note}</span>}
        {facts.map(fact => (
          <span key={fact}>{fact}</span>
        ))}
      </span>
      <span className="jp-t9k-Launch-optionActions">
        {!isSwept && canSweep(option) && (
          <IconButton
            icon={bare ? null : addIcon}
            data-several
            label={trans.__('Enter several values of %1', key)}
            onClick={() => {
              const value = model.form.values[key] ?? defaultValue(option);
              model.setValues(
                option,
                typeof value === 'string' ? quoteItem(value) : ''
              );
              requestAnimationFrame(() => document.getElementById(id)?.focus());
            }}
          />
        )}
        {(changed || isSwept) && (
          <IconButton
            icon={undoIcon}
            label={
              was
                ? trans.__('Restore %1 of the cloned job', key)
                : trans.__('Set %1 back to its default (%2)', key, standard)
            }
            onClick={() => {
              model.setValues(option, null);
              model.setOption(option, original ?? null);
              document.getElementById(id)?.focus(); // the button, which has the focus, disappears
            }}
          />
        )}
      </span>
      <FieldErrors field={key} />
    </div>
  );
});
OptionRow.displayName = 'OptionRow';

/** Return sentences about an option that its help does not say. */
function optionFacts(option: ScriptOption, trans: TranslationBundle): string[] {
  return [
    option.default_expression &&
      trans.__('Default: %1', option.default_expression),
    option.condition && trans.__('Only if %1.', option.condition),
    option.caution,
    option.library && trans.__('From %1.', option.library)
  ].filter((fact): fact is string => Boolean(fact));
}

/** Return the text for an option's default. */
function defaultText(option: ScriptOption, trans: TranslationBundle): string {
  const value = defaultValue(option);
  return value === null ? trans.__('none') : valueText(value, trans);
}

/** Return the text for a value of an option. */
function valueText(value: OptionValue, trans: TranslationBundle): string {
  switch (value) {
    case true:
      return trans.__('on');
    case false:
      return trans.__('off');
    default:
      return value;
  }
}
