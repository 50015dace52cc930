/** Texts in place of rows, and the line below the rows. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { formatCount, sentences } from '../../common/format';
import { useAfter } from '../../common/hooks';
import { openMenu } from '../../common/menu';
import { Button, LinkButton } from '../../ui/Buttons';
import { CopyButton } from '../../ui/CopyButton';
import { EmptyState } from '../../ui/EmptyState';
import { errorIcon } from '../../ui/icons';
import { ExperimentsModel } from '../model/experiments';
import { IPart } from '../../common/filter/compile';
import { numberOf } from '../../common/filter/parse';
import { RunRow } from '../../api/types';
import { folderText, formatMetric, runsText } from './text';

interface IStateProps {
  model: ExperimentsModel;
  trans: TranslationBundle;
}

/** Shown until the first answer; the words appear after a short time. */
export function Loading({ model, trans }: IStateProps): React.JSX.Element {
  const isLate = useAfter(true, 300);
  return (
    <p className="jp-t9k-Runs-wait jp-t9k-secondary" role="status">
      {isLate &&
        trans.__('Reading runs: %1…', folderText(model.view.folder, trans))}
    </p>
  );
}

/** The first request failed. */
export function Failure({ model, trans }: IStateProps): React.JSX.Element {
  const { failure } = model.store;
  return (
    <EmptyState
      icon={errorIcon}
      title={trans.__('The runs could not be read')}
      actions={
        <Button onClick={() => model.store.retry()}>
          {trans.__('Try again')}
        </Button>
      }
    >
      <p>{sentences([failure?.message, failure?.hint])}</p>
      {failure?.verbatim && <code>{failure.verbatim}</code>}
    </EmptyState>
  );
}

/** Lines that record a run. */
const LINES = `from jupyterlab_t9kjob import em

run = em.create_run(name="vit-s16", hparams=vars(args))
run.log("val", {"accuracy": acc}, step=step, epoch=epoch)
`;

/** Shown if there are no runs: explains runs, and how a script records one. */
export function FirstUse({ model, trans }: IStateProps): React.JSX.Element {
  const { folder } = model.view;
  return (
    <EmptyState
      title={
        folder === ''
          ? trans.__('No runs yet')
          : trans.__('No runs in %1', folder)
      }
      actions={
        <>
          <CopyButton
            text={LINES}
            label={trans.__('Copy the lines')}
            kind="link"
            trans={trans}
          />
          {folder !== '' && (
            <LinkButton onClick={() => model.change({ folder: '' })}>
              {trans.__('Show all folders')}
            </LinkButton>
          )}
        </>
      }
    >
      <p>
        {trans.__(
          'A run is what one training tried and what came out. To record a run, add to the script:'
        )}
      </p>
      <pre className="jp-t9k-Runs-lines">{LINES}</pre>
    </EmptyState>
  );
}

/** Shown if the filter hides all runs: names the condition that excludes them. */
export function NothingFound({ model, trans }: IStateProps): React.JSX.Element {
  const { filter, known, view } = model;
  const parts = React.useMemo(
    () =>
      (filter?.parts ?? []).map((part, _, all) => ({
        ...part,
        sentence: partText(part, known, trans),
        isExcluding:
          all.length > 1 &&
          known.some(run =>
            all.every(other => other === part || other.matches(run))
          )
      })),
    [filter, known, trans]
  );
  return (
    <div className="jp-t9k-Runs-nothing" role="status">
      <p>{trans.__('No run of the %1 matches the filter.', known.length)}</p>
      <ul>
        {parts.length > 1 &&
          parts.map((part, index) => (
            <li key={index} className="jp-t9k-secondary">
              {part.sentence}{' '}
              {part.isExcluding && (
                <LinkButton
                  onClick={() =>
                    model.change({
                      filter: parts
                        .filter(other => other !== part)
                        .map(({ text }) => text)
                        .join(' and ')
                    })
                  }
                >
                  {trans.__('Drop this condition')}
                </LinkButton>
              )}
            </li>
          ))}
        {parts.length === 1 && (
          <li className="jp-t9k-secondary">{parts[0].sentence}</li>
        )}
      </ul>
      {view.filter && (
        <LinkButton onClick={() => model.change({ filter: '' })}>
          {trans.__('Clear the filter')}
        </LinkButton>
      )}
    </div>
  );
}

/** Return how many runs match a condition, and the range of its field if none does. */
function partText(
  { text, matches, field }: IPart<RunRow>,
  known: readonly RunRow[],
  trans: TranslationBundle
): string {
  const count = known.filter(matches).length;
  if (count > 0) {
    return trans.__('%1: %2', text, runsText(count, trans));
  }
  const values = known
    .map(run => (field ? numberOf(field.read(run)) : null))
    .filter((value): value is number => Number.isFinite(value));
  if (values.length === 0) {
    return trans.__('%1: no run', text);
  }
  const least = values.reduce((a, b) => Math.min(a, b));
  const greatest = values.reduce((a, b) => Math.max(a, b));
  return trans.__(
    '%1: no run; the values are between %2 and %3',
    text,
    formatMetric(least),
    formatMetric(greatest)
  );
}

/** Counts below the rows. */
export function StatusLine({ model, trans }: IStateProps): React.JSX.Element {
  const { store, runs, known } = model;
  const { first, count } = store.unreadable;
  const hidden = known.length - runs.length;
  const recorded = runs.filter(({ origin }) => origin === 'recorder').length;
  const shown = runsText(runs.length, trans);
  const texts = [
    hidden > 0
      ? trans.__(
          '%1 shown, %2 hidden by the filter',
          shown,
          formatCount(hidden)
        )
      : trans.__('%1 shown', shown),
    recorded < runs.length
      ? trans.__(
          '%1 recorded, %2 read from other files',
          formatCount(recorded),
          formatCount(runs.length - recorded)
        )
      : null,
    store.isScanning ? trans.__('searching folders…') : store.leftOut,
    store.indexProblem
  ];
  const unreadable = trans._n(
    '%1 folder could not be read',
    '%1 folders could not be read',
    count
  );
  return (
    <div className="jp-t9k-Runs-line jp-t9k-secondary">
      <span>{texts.filter(Boolean).join(' · ')}</span>
      {count > 0 && (
        <span>
          {first.length === 1
            ? trans.__('%1: %2', unreadable, first[0].problem)
            : unreadable}{' '}
          <LinkButton
            aria-haspopup="menu"
            onClick={event =>
              openMenu(
                event.currentTarget,
                first.map(({ path, problem }) => ({
                  label: trans.__('%1: %2', path, problem),
                  disabled: problem,
                  execute: () => undefined
                }))
              )
            }
          >
            {trans.__('Show')}
          </LinkButton>
        </span>
      )}
    </div>
  );
}
