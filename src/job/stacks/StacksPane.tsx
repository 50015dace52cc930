/** Pane of a job's tab with the stacks of its ranks. */
import { Clipboard } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { copyIcon, refreshIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { ApiError } from '../../api/errors';
import {
  Job,
  Recording,
  StackDump,
  StackGroup,
  StackList
} from '../../api/types';
import {
  formatClock,
  formatCount,
  formatMoment,
  sentences
} from '../../common/format';
import { Banner } from '../../ui/Banner';
import { Button, IconButton } from '../../ui/Buttons';
import { EmptyState } from '../../ui/EmptyState';
import { JobTabModel } from '../model/jobTab';
import { OpenFile } from '../view/Traceback';
import { Collectives } from './Collectives';
import { GroupCard } from './GroupCard';
import { capital, dumpText } from './text';
import { IStacks, useStacks } from './useStacks';

/** Properties of the pane. */
interface IStacksPaneProps {
  model: JobTabModel;
  job: Job;
  openFile: OpenFile;
  /** Show the log of a group's ranks. */
  showLog(group: StackGroup): void;
  /** Stop the job, after a dialog. */
  stop(): void;
  trans: TranslationBundle;
}

/** The kept stacks of a job, and the button that takes new ones. */
export default function StacksPane(props: IStacksPaneProps): React.JSX.Element {
  const { model, job, trans } = props;
  const stacks = useStacks(model, job);
  const { list } = stacks;
  const [chosen, choose] = React.useState<string | null>(null);
  const [libraries, setLibraries] = React.useState(false);
  const [threads, setThreads] = React.useState(false);
  const [native, setNative] = React.useState(false);
  const newest = list?.dumps[0]?.id;
  React.useEffect(() => choose(null), [newest]);
  if (list === null) {
    return (
      <div className="jp-t9k-Stacks">
        {stacks.error ? (
          <Problem error={stacks.error} />
        ) : (
          <p role="status">{trans.__('Reading the stacks…')}</p>
        )}
      </div>
    );
  }
  if (list.dumps.length === 0) {
    return <NothingTaken list={list} stacks={stacks} trans={trans} />;
  }
  const dump = list.dumps.find(({ id }) => id === chosen) ?? list.dumps[0];
  const others = dump.groups.reduce(
    (sum, group) => sum + group.threads.length,
    0
  );
  return (
    <div className="jp-t9k-Stacks">
      <div
        className="jp-t9k-Stacks-toolbar"
        role="toolbar"
        aria-label={trans.__('Stacks')}
      >
        <TakeButton
          label={trans.__('Take stacks again')}
          list={list}
          stacks={stacks}
          native={native}
          trans={trans}
        />
        <span className="jp-t9k-Stacks-facts">
          {factsText(dump, trans)}{' '}
          <span className="jp-t9k-secondary">{methodText(dump, trans)}</span>
        </span>
        <span className="jp-t9k-Stacks-space" />
        {list.dumps.length > 1 && (
          <select
            aria-label={trans.__('Stacks to show')}
            value={dump.id}
            onChange={event => choose(event.target.value)}
          >
            {list.dumps.map(({ id, time }, index) => (
              <option key={id} value={id}>
                {trans.__(
                  '%1, %2 of %3',
                  formatClock(time, true),
                  list.dumps.length - index,
                  list.dumps.length
                )}
              </option>
            ))}
          </select>
        )}
        <Box checked={libraries} set={setLibraries}>
          {trans.__('Library frames')}
        </Box>
        <Box checked={threads} set={setThreads} disabled={others === 0}>
          {trans.__('Other threads, %1', formatCount(others))}
        </Box>
        <Box
          checked={native}
          set={setNative}
          disabled={!list.available.supported}
          title={trans.__('Take frames of C and C++ as well the next time')}
        >
          {trans.__('With C frames')}
        </Box>
        <IconButton
          icon={copyIcon}
          label={trans.__('Copy all stacks')}
          onClick={() => Clipboard.copyToSystem(dumpText(dump, trans))}
        />
      </div>
      <div className="jp-t9k-Stacks-body">
        {stacks.error && <Problem error={stacks.error} />}
        {!list.available.supported && (
          <Banner
            level="info"
            title={trans.__(
              'These stacks were taken %1.',
              formatMoment(dump.time, trans)
            )}
          >
            {list.available.reason}
          </Banner>
        )}
        {dump.groups.length > 1 && dump.detail && (
          <Banner
            level="warning"
            title={`${capital(dump.detail)}.`}
            actions={
              job.actions.includes('stop') && (
                <Button onClick={props.stop}>{trans.__('Stop…')}</Button>
              )
            }
          />
        )}
        {dump.missing.map((missing, index) => (
          <Banner
            key={index}
            level="warning"
            title={trans.__('No stacks: %1.', missing.who)}
          >
            {sentences([missing.sentence, missing.hint])}
            {missing.verbatim && <code>{missing.verbatim}</code>}
          </Banner>
        ))}
        <Collectives collectives={dump.collectives} trans={trans} />
        {list.recording && (
          <Recorded recording={list.recording} trans={trans} />
        )}
        <div className="jp-t9k-Stacks-groups">
          {dump.groups.map((group, index) => (
            <GroupCard
              key={`${dump.id}.${index}`}
              group={group}
              odd={index < dump.groups.length - 1}
              libraries={libraries}
              threads={threads}
              showLog={props.showLog}
              openFile={props.openFile}
              trans={trans}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

/** Shown before any stacks were taken: explains stacks, and the cost of taking them. */
function NothingTaken(props: {
  list: StackList;
  stacks: IStacks;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { list, stacks, trans } = props;
  const { supported, reason } = list.available;
  return (
    <div className="jp-t9k-Stacks">
      {stacks.error && <Problem error={stacks.error} />}
      <EmptyState
        title={trans.__('No stacks taken yet')}
        actions={
          supported && (
            <TakeButton
              label={trans.__('Take stacks')}
              list={list}
              stacks={stacks}
              native={false}
              trans={trans}
            />
          )
        }
      >
        <p>
          {trans.__(
            'Stacks show the function and line at which each rank is. Ranks with equal stacks form a group.'
          )}
        </p>
        {!supported && <p>{reason}</p>}
        {list.recording && (
          <Recorded recording={list.recording} trans={trans} />
        )}
        {supported && (
          <p>
            {list.automatic
              ? trans.__(
                  'Each rank stands still for some milliseconds. The stacks are also taken once if the job stops making progress.'
                )
              : trans.__(
                  'Each rank stands still for some milliseconds. The lab starts a command in each of the job’s pods.'
                )}
          </p>
        )}
      </EmptyState>
    </div>
  );
}

/** Collectives in the files that PyTorch has written when one of them timed out. */
function Recorded(props: {
  recording: Recording;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { recording, trans } = props;
  const { time, ranks, unreadable, collectives } = recording;
  const moment = formatMoment(time, trans);
  return (
    <>
      <Banner
        level="info"
        title={
          ranks === 0
            ? trans.__('PyTorch wrote its last collectives %1.', moment)
            : trans._n(
                'PyTorch wrote the last collectives of %1 rank %2.',
                'PyTorch wrote the last collectives of %1 ranks %2.',
                ranks,
                moment
              )
        }
      >
        {unreadable > 0 &&
          trans._n(
            '%1 file can’t be read.',
            '%1 files can’t be read.',
            unreadable
          )}{' '}
        {ranks > 0 &&
          collectives.length === 0 &&
          trans.__('All collectives in them have ended.')}
      </Banner>
      <Collectives collectives={collectives} trans={trans} />
    </>
  );
}

/** Button that takes stacks. */
function TakeButton(props: {
  label: string;
  list: StackList;
  stacks: IStacks;
  native: boolean;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { stacks, trans } = props;
  const { supported, reason } = props.list.available;
  return (
    <Button
      icon={refreshIcon}
      disabled={stacks.taking || !supported}
      title={reason ?? undefined}
      onClick={() => stacks.take(props.native)}
    >
      {stacks.taking ? trans.__('Taking stacks…') : props.label}
    </Button>
  );
}

/** A check box with its label. */
function Box(props: {
  checked: boolean;
  set(checked: boolean): void;
  disabled?: boolean;
  title?: string;
  children: React.ReactNode;
}): React.JSX.Element {
  return (
    <label className="jp-t9k-Stacks-box" title={props.title}>
      <input
        type="checkbox"
        checked={props.checked}
        disabled={props.disabled}
        onChange={({ target }) => props.set(target.checked)}
      />
      {props.children}
    </label>
  );
}

/** The error of a request. */
function Problem({ error }: { error: ApiError }): React.JSX.Element {
  return (
    <Banner level="error" title={error.message}>
      {error.hint} {error.verbatim && <code>{error.verbatim}</code>}
    </Banner>
  );
}

/** Return “8 of 8 ranks at 10:41:52, in 1.3 s”. */
function factsText(dump: StackDump, trans: TranslationBundle): string {
  const { ranks, expected, time, seconds } = dump;
  const clock = formatClock(time, true);
  const duration = trans.__('%1 s', seconds.toFixed(1));
  return expected === null || ranks > expected
    ? trans._n(
        '%1 rank at %2, in %3',
        '%1 ranks at %2, in %3',
        ranks,
        clock,
        duration
      )
    : trans._n(
        '%2 of %1 rank at %3, in %4',
        '%2 of %1 ranks at %3, in %4',
        expected,
        ranks,
        clock,
        duration
      );
}

/** Return how the stacks were taken. */
function methodText(dump: StackDump, trans: TranslationBundle): string {
  if (dump.method === 'faulthandler') {
    return trans.__('by a signal to faulthandler');
  }
  if (dump.method === 'debug-server') {
    return trans.__('by PyTorch’s debug server');
  }
  return dump.native
    ? trans.__('with py-spy, with C frames')
    : trans.__('with py-spy');
}
