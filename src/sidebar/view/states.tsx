/** Contents of the sidebar without a list of jobs: loading, first use, and no match of the filter. */

import { folderIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { EngineInfo, Machine } from '../../api/types';
import { hintIcon, jobIcon, stateIcons } from '../../ui/icons';
import { Button, LinkButton } from '../../ui/Buttons';
import { EmptyState } from '../../ui/EmptyState';
import { useAfter } from '../../common/hooks';
import { Icon } from '../../ui/Icon';
import { listed } from '../../common/format';

interface ITrans {
  trans: TranslationBundle;
}

/** Placeholder until the first snapshot. It appears after a short delay, so that a fast answer causes no flicker. */
export function Loading({ trans }: ITrans): React.JSX.Element | null {
  const slow = useAfter(true, 300);
  const verySlow = useAfter(true, 5000);
  if (!slow) {
    return null;
  }
  return (
    <div className="jp-t9k-Loading" role="status">
      <span className="jp-t9k-visuallyHidden">
        {trans.__('Reading the jobs.')}
      </span>
      {[60, 74, 48].map(width => (
        <div key={width} className="jp-t9k-Loading-row" aria-hidden>
          <i />
          <b style={{ width: `${width}%` }} />
          <b style={{ width: `${100 - width / 3}%` }} />
        </div>
      ))}
      {verySlow && (
        <p className="jp-t9k-secondary">
          {trans.__('Reading the jobs. This is taking longer than usual.')}
        </p>
      )}
    </div>
  );
}

/** Instructions for the first job, and the list of engines. */
export function FirstUse({
  engines,
  chooseScript,
  trans
}: ITrans & {
  engines: readonly EngineInfo[];
  chooseScript: () => void;
}): React.JSX.Element {
  const able = engines.some(
    engine => engine.available && engine.facts.creates_jobs
  );
  return (
    <EmptyState
      icon={jobIcon}
      title={able ? trans.__('No jobs yet') : trans.__('Jobs can’t run here')}
    >
      {able && (
        <>
          <p>
            {trans.__(
              'Right-click a script or a notebook in the file browser and choose'
            )}{' '}
            <strong>{trans.__('Run as Distributed Job')}</strong>
            {'. '}
            {trans.__('The form opens with its fields filled in.')}
          </p>
          <Button icon={folderIcon} onClick={chooseScript}>
            {trans.__('Choose a script…')}
          </Button>
          <p className="jp-t9k-secondary">{trans.__('Jobs can run here:')}</p>
        </>
      )}
      <EngineList engines={engines} trans={trans} />
    </EmptyState>
  );
}

/** List of the engines, with the reason for each engine that is unavailable. */
export function EngineList({
  engines,
  trans
}: ITrans & { engines: readonly EngineInfo[] }): React.JSX.Element {
  return (
    <ul className="jp-t9k-Points">
      {engines.map(engine => {
        const icon = engine.available ? stateIcons.succeeded : hintIcon;
        return (
          <li
            key={engine.name}
            data-kind={engine.available ? 'available' : undefined}
          >
            <Icon of={icon} size={16} />
            <span>{engineText(engine, trans)}</span>
          </li>
        );
      })}
    </ul>
  );
}

function engineText(engine: EngineInfo, trans: TranslationBundle): string {
  const says = !engine.available
    ? engine.reason
    : engine.machine
      ? machineText(engine.machine, trans)
      : engine.default_namespace &&
        trans.__('namespace %1', engine.default_namespace);
  return says ? `${engine.label}: ${says}` : engine.label;
}

/** Return a short description of a machine: “8 CPUs, 2 GPUs”. */
export function machineText(
  machine: Machine,
  trans: TranslationBundle
): string {
  const gpus = machine.devices.length;
  return listed([
    trans._n('%1 CPU', '%1 CPUs', machine.cpus),
    gpus ? trans._n('%1 GPU', '%1 GPUs', gpus) : trans.__('no GPU')
  ]);
}

/** Message for a filter that hides all jobs. */
export function NothingFound({
  filter,
  clear,
  others,
  showOthers,
  trans
}: ITrans & {
  filter: string;
  clear: () => void;
  /** Number of other users' jobs that match the filter. */
  others: number;
  showOthers: () => void;
}): React.JSX.Element {
  return (
    <div className="jp-t9k-NothingFound" role="status">
      <p>
        {filter.trim() === ''
          ? trans.__('No job of yours.')
          : others > 0
            ? trans.__('No job of yours matches “%1”.', filter)
            : trans.__('No job matches “%1”.', filter)}
      </p>
      {others > 0 && (
        <LinkButton onClick={showOthers}>
          {trans._n('Show %1 job of others', 'Show %1 jobs of others', others)}
        </LinkButton>
      )}
      {filter.trim() !== '' && (
        <LinkButton onClick={clear}>{trans.__('Clear the filter')}</LinkButton>
      )}
    </div>
  );
}
