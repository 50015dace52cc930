/** List of the checks of the launch form. */
import { LabIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Check } from '../../api/types';
import { errorIcon, hintIcon, stateIcons, warningIcon } from '../../ui/icons';
import { LinkButton } from '../../ui/Buttons';
import { Icon } from '../../ui/Icon';
import { useLaunch, useModel } from '../parts/context';
import { describeField } from '../parts/fieldNames';
import { SourceLink } from '../parts/SourceLink';
import { listed, sentences } from '../../common/format';

type Level = Check['level'];

const LEVELS: readonly Level[] = ['error', 'warning', 'hint', 'passed'];

const icons: Record<Level, LabIcon> = {
  error: errorIcon,
  warning: warningIcon,
  hint: hintIcon,
  passed: stateIcons.succeeded
};

/** Checks of the form, the most severe first, each with a link to its field or source. */
export function Checks(): React.JSX.Element {
  const { trans, prefix } = useLaunch();
  const checks = useModel(model => model.checks);
  const sorted = LEVELS.flatMap(level =>
    checks.filter(check => check.level === level)
  );
  return (
    <section
      className="jp-t9k-Launch-checks"
      aria-labelledby={`${prefix}checks`}
    >
      <h3 id={`${prefix}checks`}>
        {trans.__('Checks')}{' '}
        <span className="jp-t9k-caption">{countChecks(checks, trans)}</span>
      </h3>
      <ul>
        {sorted.map(check => (
          <CheckLine
            key={`${check.code} ${check.field} ${check.line} ${check.message}`}
            check={check}
          />
        ))}
      </ul>
    </section>
  );
}

function CheckLine({ check }: { check: Check }): React.JSX.Element {
  const { trans } = useLaunch();
  const levels: Record<Level, string> = {
    error: trans.__('Error:'),
    warning: trans.__('Warning:'),
    hint: trans.__('Hint:'),
    passed: trans.__('Passed:')
  };
  return (
    <li data-level={check.level}>
      <Icon of={icons[check.level]} />
      <span>
        <span className="jp-t9k-visuallyHidden">{levels[check.level]}</span>
        {sentences([check.message, check.hint])}
      </span>
      <CheckLink check={check} />
    </li>
  );
}

/** Change that a hint offers, or link to the source, the line or the field of a check; nothing if it has none. */
function CheckLink({ check }: { check: Check }): React.JSX.Element | null {
  const { model, trans, reveal, revealLine } = useLaunch();
  const isManifest = useModel(({ state }) => state.manifest !== null);
  const isCurrent = useModel(({ sweepJobs }) => sweepJobs.isCurrent);
  const { link, field, line, column, fix } = check;
  // The changes that errors and warnings offer are at their fields, which don't show hints.
  if (check.level === 'hint' && fix && field) {
    return (
      <LinkButton
        disabled={!isCurrent}
        onClick={() => {
          model.applyFix(fix, field);
          reveal(field); // the button goes, which has the focus
        }}
      >
        {fix.label}
      </LinkButton>
    );
  }
  if (link?.kind === 'file' || link?.kind === 'url') {
    return <SourceLink link={link} />;
  }
  if (line !== null) {
    return (
      <LinkButton onClick={() => revealLine({ line, column })}>
        {trans.__('line %1', line)}
      </LinkButton>
    );
  }
  // The fields of a locked form can't have the focus.
  const shown = field && !isManifest ? describeField(field, trans) : null;
  return field && shown && check.level !== 'passed' ? (
    <LinkButton onClick={() => reveal(field)}>{shown.name}</LinkButton>
  ) : null;
}

/** Return the numbers of checks by level, such as “1 error, 2 passed”. */
export function countChecks(
  checks: readonly Check[],
  trans: TranslationBundle
): string {
  const count = (level: Level) =>
    checks.filter(check => check.level === level).length;
  const [errors, warnings, hints, passed] = LEVELS.map(count);
  return listed([
    errors && trans._n('%1 error', '%1 errors', errors),
    warnings && trans._n('%1 warning', '%1 warnings', warnings),
    passed && trans._n('%1 passed', '%1 passed', passed),
    hints && trans._n('%1 hint', '%1 hints', hints)
  ]);
}
