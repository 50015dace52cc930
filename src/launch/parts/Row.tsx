/** Row of the launch form: label, control, caption and errors of a field. */
import * as React from 'react';
import { Fix } from '../../api/types';
import { errorIcon, warningIcon } from '../../ui/icons';
import { MISSING } from '../model/problems';
import { LinkButton } from '../../ui/Buttons';
import { Icon } from '../../ui/Icon';
import { useChecks, useLaunch, useModel } from './context';
import { placeOf } from './fieldNames';
import { SourceLink } from './SourceLink';

/** Properties of a field's control. */
interface IFieldProps {
  id: string;
  'data-field': string;
  'aria-invalid': boolean | undefined;
  'aria-describedby': string;
}

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
  return {
    id,
    'data-field': field,
    'aria-invalid': invalid || undefined,
    'aria-describedby': `${id}-caption ${id}-errors`
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
