/** Row of the launch form: label, control, caption and errors of a field. */
import * as React from 'react';
import { Fix } from '../../api/types';
import { errorIcon, warningIcon } from '../../ui/icons';
import { lockIcon } from '../../ui/pageIcons';
import { MISSING } from '../model/problems';
import { undoIcon } from '@jupyterlab/ui-components';
import { IconButton, LinkButton } from '../../ui/Buttons';
import { Icon } from '../../ui/Icon';
import { changedPointer, isDifferent } from '../content/differences';
import { describeLock, fixingLock } from '../content/locks';
import { describeValue, valueAt } from '../content/presets';
import { useChecks, useFixed, useLaunch, useModel } from './context';
import { describeField } from './fieldNames';
import { SourceLink } from './SourceLink';

/** Properties of a field's control. */
interface IFieldProps {
  id: string;
  'data-field': string;
  'aria-invalid': boolean | undefined;
  readOnly: boolean | undefined;
  'aria-describedby': string;
}

/** Id of the notes about locks in the row around a field; null outside of a row. */
const LockNotesId = React.createContext<string | null>(null);

/** Return the id of a field's control. */
export function useFieldId(field: string): string {
  return `${useLaunch().prefix}${field}`;
}

/** Return the properties that connect a field's control with its label, caption and errors. */
export function useField(field: string): IFieldProps {
  const id = useFieldId(field);
  const invalid = useModel(({ checks }) =>
    checks.some(check => check.level === 'error' && check.field === field)
  );
  const isFixed = useFixed(field) !== null;
  const notes = React.useContext(LockNotesId) ?? `${id}-locks`;
  return {
    id,
    'data-field': field,
    'aria-invalid': invalid || undefined,
    readOnly: isFixed || undefined,
    'aria-describedby': `${id}-caption ${notes} ${id}-errors`
  };
}

/** Errors and warnings of a field, with the fixes that the server offers. */
export function FieldErrors({ field }: { field: string }): React.JSX.Element {
  const { model, reveal } = useLaunch();
  const fixAt = (fix: Fix): void => {
    model.applyFix(fix, field);
    reveal(field); // the fix removes the button, which has the focus
  };
  const problems = useChecks(
    check =>
      check.field === field &&
      (check.level === 'error' || check.level === 'warning') &&
      check.code !== MISSING // the field's placeholder says so
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
              {message} {hint} <SourceLink link={link} />{' '}
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

/**
 * Fields, and below them the administrator's rules for them with the reasons. The controls of the fields are described
 * by the rules.
 */
export function WithLocks({
  fields,
  children
}: {
  /** The fields; the first one names the group of fields. */
  fields: readonly string[];
  children: React.ReactNode;
}): React.JSX.Element {
  const { trans } = useLaunch();
  const id = `${useFieldId(fields[0])}-locks`;
  const locks = useModel(({ locks }) => [
    ...new Set(
      fields
        .map(field => locks.get(field) ?? fixingLock(locks, field))
        .filter(lock => lock !== null)
    )
  ]);
  return (
    <LockNotesId.Provider value={id}>
      {children}
      <div id={id}>
        {locks.map(lock => (
          <div key={lock.field} className="jp-t9k-Launch-lock jp-t9k-caption">
            <Icon of={lockIcon} />
            <span>{describeLock(lock, trans)}</span>
          </div>
        ))}
      </div>
    </LockNotesId.Provider>
  );
}

/** The value that a field has in the cloned job, and a button that restores it; nothing if it is the same. */
function Was({ fields }: { fields: string[] }): React.JSX.Element | null {
  const { model, trans, reveal } = useLaunch();
  const was = useModel(({ original, differences, spec, locks }) => {
    const changed = fields.filter(
      field =>
        original !== null &&
        fixingLock(locks, field) === null &&
        differences.includes(field) &&
        isDifferent(spec, original, field)
    );
    return changed.map(field => {
      const pointer = original && changedPointer(spec, original, field);
      const value = valueAt(original, field);
      // A part without this value, such as the shared memory's size, was on or off as a whole.
      const was =
        (value ?? null) === null && pointer !== field
          ? (valueAt(original, pointer ?? '') ?? null) !== null
          : value;
      return { field, text: describeValue(was, field, trans) };
    });
  });
  if (!was.length) {
    return null;
  }
  const [{ field }] = was;
  const name = describeField(field, trans)?.name ?? field;
  return (
    <span className="jp-t9k-Launch-was">
      {trans.__(
        'was %1',
        [...new Set(was.map(({ text }) => text))].join(' · ')
      )}
      <IconButton
        icon={undoIcon}
        label={trans.__('Restore %1 of the cloned job', name)}
        onClick={() => {
          was.forEach(each => model.resetField(each.field));
          reveal(field); // the button, which has the focus, disappears
        }}
      />
    </span>
  );
}

/** Properties of a row. */
interface IRowProps {
  /** Field that the label and the caption describe. */
  field: string;
  caption?: React.ReactNode;
  /** Further fields in the row; their errors are shown as well. */
  others?: string[];
  /** Label of the row; the default is the field's name. */
  label?: string;
  /** True if the label describes a group of controls. */
  group?: boolean;
  children: React.ReactNode;
}

/** Row of the form. */
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
  const label = ownLabel ?? describeField(field, trans)?.name;
  const edited = useModel(
    ({ state: { lastEdited } }) =>
      lastEdited !== null && [field, ...others].includes(lastEdited)
  );
  const differs = useModel(({ differences }) =>
    [field, ...others].some(each => differences.includes(each))
  );
  return (
    <div
      className="jp-t9k-Launch-row"
      data-edited={edited || undefined}
      data-differs={differs || undefined}
    >
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
        <WithLocks fields={[field, ...others]}>
          <div className="jp-t9k-Launch-line">
            {children}
            <Was fields={[field, ...others]} />
          </div>
          <div id={`${id}-caption`} className="jp-t9k-caption">
            {caption}
          </div>
        </WithLocks>
        {[field, ...others].map(each => (
          <FieldErrors key={each} field={each} />
        ))}
      </div>
    </div>
  );
}
