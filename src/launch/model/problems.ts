/** Checks of the launch form: the page's own and those of the server. */
import { TranslationBundle } from '@jupyterlab/translation';
import { ApiError } from '../../api/errors';
import { NAME_PATTERN } from '../../api/constants';
import { Check, JobSpec, Prefill, ScriptOption } from '../../api/types';
import { CommandPreview } from './commandPreview';
import { composeArgs } from '../content/args/composeArgs';
import { fieldOf } from '../content/fieldPointers';
import {
  configFilesOf,
  ILaunchForm,
  IPair,
  isEnvName,
  MORE
} from '../content/form';
import { IEditedManifest } from './state';
import {
  defaultValue,
  isAcceptable,
  optionKey
} from '../content/scriptOptions';
import { isSameField } from '../content/specChanges';
import { splitWords } from '../../common/shellWords';

/** Code of the server's check that a required option has no value. */
export const MISSING = 'OptionMissing';

/** The parts of a form and of its preview that its checks depend on. */
export interface IChecked extends Pick<
  CommandPreview,
  'shown' | 'failure' | 'asked' | 'described'
> {
  /** Content of the form. */
  form: ILaunchForm;
  /** Options of the script that have fields. */
  options: readonly ScriptOption[];
  /** The specification that the form describes. */
  spec: JobSpec;
  /** The manifest that the user edits instead of the form; null if there is none. */
  manifest: IEditedManifest | null;
  /** The last prefilled form; its checks are used before the first preview. */
  prefill: Prefill | null;
  /** The server's refusal of the current form. */
  refusal: ApiError | null;
  /** Checks of the sweep; empty if the form has none. */
  sweep: readonly Check[];
  /** True if the sweep has a rule without a metric. */
  lacksMetric: boolean;
  trans: TranslationBundle;
}

/** Return the checks of a form or of an edited manifest. Their fields have the form's names. */
export function knownChecks({
  form,
  options,
  spec,
  manifest,
  prefill,
  refusal,
  shown,
  failure,
  sweep,
  lacksMetric,
  ...others
}: IChecked): readonly Check[] {
  if (manifest) {
    // If the server can't read the text, the checks of the last preview don't apply.
    return manifestChecks(
      [refusal, failure],
      failure ? [] : (shown?.checks ?? [])
    );
  }
  /** True if the field has not changed since the server checked a spec. */
  const holds = (
    { field }: { field: string | null },
    checked: JobSpec | null
  ): boolean =>
    field === null ||
    isSameField(field, checked ?? prefill?.spec ?? spec, spec);
  return allChecks(
    form,
    options,
    [refusal, failure && holds(failure, others.asked) ? failure : null],
    [
      ...(lacksMetric ? [metricProblem(others.trans)] : []),
      ...sweep,
      ...(shown?.checks ?? prefill?.checks ?? []).filter(
        check => check.level !== 'error' || holds(check, others.described)
      )
    ],
    others.trans
  );
}

/**
 * Return the checks of a form without duplicates: first the page's, then the server's.
 *
 * @param refusals - Errors with which the server refused the form. Those that name a field become checks.
 * @param checks - Checks of the server's preview; their fields are JSON pointers into the specification.
 */
function allChecks(
  form: ILaunchForm,
  options: readonly ScriptOption[],
  refusals: readonly (ApiError | null)[],
  checks: readonly Check[],
  trans: TranslationBundle
): Check[] {
  const refused = refusals.flatMap(refusal =>
    refusal?.field ? [refusalCheck(refusal)] : []
  );
  const theirs = [...refused, ...checks]
    // Skip the check of a missing option that has a value now.
    .filter(
      ({ code, option }) =>
        code !== MISSING || !(option && option in form.values)
    )
    .map(check => ({ ...check, field: fieldOfCheck(check, form, options) }))
    // Skip errors of a field with an invalid text: they concern the last valid value.
    .filter(
      ({ level, field }) =>
        level !== 'error' || !(field && field in form.drafts)
    );
  return distinct([...findProblems(form, options, trans), ...theirs]);
}

/**
 * Return the checks of an edited manifest. The form is not checked.
 *
 * @param refusals - Errors with which the server refused the text.
 * @param checks - Checks of the server's preview.
 */
function manifestChecks(
  refusals: readonly (ApiError | null)[],
  checks: readonly Check[]
): Check[] {
  const refused = refusals.flatMap(refusal =>
    refusal && (refusal.field || refusal.line) ? [refusalCheck(refusal)] : []
  );
  return distinct([...refused, ...checks]);
}

/** Return the form's field of a server's check; null for a check of the whole job. */
function fieldOfCheck(
  { field, option }: Check,
  form: ILaunchForm,
  options: readonly ScriptOption[]
): string | null {
  return option !== null && options.some(one => optionKey(one) === option)
    ? option
    : field && fieldOf(field, form, options);
}

/** Return a server's refusal as a check. */
function refusalCheck(refusal: ApiError): Check {
  const { field, message, hint, line, column } = refusal;
  return { ...error(field ?? '', message, hint), field, line, column };
}

/** Return the checks without repetitions of the same message at the same position. */
function distinct(checks: readonly Check[]): Check[] {
  return checks.filter(
    (check, index) =>
      checks.findIndex(
        ({ message, field, line }) =>
          message === check.message &&
          field === check.field &&
          line === check.line
      ) === index
  );
}

/** Return the errors that the page finds without the server, in the order of the fields. */
function findProblems(
  form: ILaunchForm,
  options: readonly ScriptOption[],
  trans: TranslationBundle
): Check[] {
  return [
    ...Object.entries(form.drafts).map(([field, { problem }]) =>
      error(field, problem)
    ),
    ...optionProblems(form, options, trans),
    ...orderProblems(form, options, trans),
    ...moreProblems(form, trans),
    ...envProblems(form, trans),
    ...pairProblems(form.labels, '/labels', trans),
    ...pairProblems(form.nodeSelector, '/scheduling/node_selector', trans),
    ...tolerationProblems(form, trans),
    ...mountProblems(form, trans)
  ];
}

/** Return the reason why a name is invalid for a job; null if it is valid. */
export function nameProblem(
  name: string,
  trans: TranslationBundle
): string | null {
  if (!name) {
    return trans.__('Enter a name for the job.');
  }
  return new RegExp(NAME_PATTERN).test(name)
    ? null
    : trans.__(
        'A name has small letters, digits and dashes, begins with a letter, does not end with a dash, and has at most 40 characters.'
      );
}

/** Return an error of the page for a field. */
function error(
  field: string,
  message: string,
  hint: string | null = null
): Check {
  return {
    level: 'error',
    code: 'Form',
    message,
    hint,
    field,
    option: null,
    line: null,
    column: null,
    link: null,
    fix: null
  };
}

function optionProblems(
  form: ILaunchForm,
  options: readonly ScriptOption[],
  trans: TranslationBundle
): Check[] {
  return options.flatMap(option => {
    const key = optionKey(option);
    const value = form.values[key];
    if (typeof value !== 'string' || value === defaultValue(option)) {
      return [];
    }
    if (
      option.choices.length &&
      option.kind !== 'list' &&
      !option.choices.includes(value)
    ) {
      return [
        error(
          key,
          trans.__('%1 is not one of the choices of %2.', quoted(value), key)
        )
      ];
    }
    if (isAcceptable(option, value)) {
      return [];
    }
    switch (option.kind) {
      case 'int':
        return [error(key, trans.__('%1 takes a whole number.', key))];
      case 'float':
        return [error(key, trans.__('%1 takes a number.', key))];
      default:
        return [
          error(key, trans.__('A quotation mark in %1 is not closed.', key))
        ];
    }
  });
}

function orderProblems(
  { values, moreWords }: ILaunchForm,
  options: readonly ScriptOption[],
  trans: TranslationBundle
): Check[] {
  const { clashes } = composeArgs(options, values, moreWords);
  return clashes.map(({ taker, isGiven, owner }) => {
    const [key, other] = [optionKey(taker), optionKey(owner)];
    return error(
      isGiven ? other : key,
      trans.__(
        '%1 would get the value of %2: the script tells them apart only by their order.',
        ...[key, other]
      ),
      isGiven
        ? trans.__('Remove the value of %1.', other)
        : trans.__('Enter a value for %1.', key)
    );
  });
}

function metricProblem(trans: TranslationBundle): Check {
  return error(
    '/sweep/rule/metric',
    trans.__('Enter the name of a metric, such as val_loss.')
  );
}

function moreProblems(form: ILaunchForm, trans: TranslationBundle): Check[] {
  switch (splitWords(form.more).error) {
    case null:
      return [];
    case 'quote':
      return [
        error(
          MORE,
          trans.__('A quotation mark is not closed.'),
          trans.__('Close it, or put a backslash before it.')
        )
      ];
    case 'backslash':
      return [error(MORE, trans.__('The text ends with a backslash.'))];
  }
}

function envProblems(form: ILaunchForm, trans: TranslationBundle): Check[] {
  const seen = new Set<string>();
  return form.env.flatMap(({ name, value, secret }, index) => {
    const field = `/env/${index}/name`;
    if (!name && !value && !secret) {
      return []; // a new row
    }
    if (!name) {
      return [error(field, trans.__('Enter the name of the variable.'))];
    }
    if (!isEnvName(name)) {
      return [
        error(
          field,
          trans.__(
            '%1 can’t be a variable’s name: letters, digits and _ only, and no digit first.',
            quoted(name)
          )
        )
      ];
    }
    if (seen.has(name)) {
      return [error(field, trans.__('%1 is given twice.', name))];
    }
    seen.add(name);
    if (secret && !(secret.name && secret.key)) {
      const part = secret.name ? 'key' : 'secret';
      const message = trans.__('Enter the name of the secret and the key.');
      return [error(`/env/${index}/${part}`, message)];
    }
    return [];
  });
}

function pairProblems(
  rows: readonly IPair[],
  field: string,
  trans: TranslationBundle
): Check[] {
  return rows.flatMap(({ name, value }, index) => {
    const place = `${field}/${index}/name`;
    if (!name) {
      return value
        ? [error(place, trans.__('Enter the name of the label.'))]
        : [];
    }
    return rows.findIndex(other => other.name === name) < index
      ? [error(place, trans.__('%1 is given twice.', name))]
      : [];
  });
}

function tolerationProblems(
  form: ILaunchForm,
  trans: TranslationBundle
): Check[] {
  return form.spec.scheduling.tolerations.flatMap((row, index) =>
    row.key === '' && row.value
      ? [
          error(
            `/scheduling/tolerations/${index}`,
            trans.__('Enter the key of the taint.')
          )
        ]
      : []
  );
}

function mountProblems(form: ILaunchForm, trans: TranslationBundle): Check[] {
  const noPath = (field: string): Check =>
    error(field, trans.__('Enter the path in the job.'));
  const noClaim = (field: string): Check =>
    error(field, trans.__('Enter the name of the PVC.'));
  return [
    ...form.spec.mounts.flatMap(({ claim, mount_path }, index) => [
      ...(claim ? [] : [noClaim(`/mounts/${index}/claim`)]),
      ...(mount_path ? [] : [noPath(`/mounts/${index}/mount_path`)])
    ]),
    ...configFilesOf(form.spec).flatMap(({ path }, index) =>
      path ? [] : [noPath(`/config_files/${index}/path`)]
    )
  ];
}

function quoted(text: string): string {
  return `“${text}”`;
}
