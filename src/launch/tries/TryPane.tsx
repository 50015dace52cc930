/** Pane of the preview that tries the job on this machine. */
import { TranslationBundle } from '@jupyterlab/translation';
import { LabIcon, refreshIcon, stopIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Try } from '../../api/types';
import { formatDuration, sentences } from '../../common/format';
import { useTicking, useValue } from '../../common/hooks';
import { ownFrame } from '../../job/model/nextStep';
import { Traceback } from '../../job/view/Traceback';
import { Button, LinkButton } from '../../ui/Buttons';
import { Icon } from '../../ui/Icon';
import { errorIcon, hintIcon, stateIcons } from '../../ui/icons';
import { ProgressBar } from '../../ui/ProgressBar';
import { useLaunch, useModel } from '../parts/context';
import { Spinner } from '../parts/NumberField';
import { NotSubmitted, TryModel } from './model';
import { useTry } from './useTry';

const ICONS: Record<Try['state'], LabIcon> = {
  running: stateIcons.running,
  passed: stateIcons.succeeded,
  failed: errorIcon,
  not_tried: hintIcon,
  stopped: stateIcons.stopped
};

/** The last try of the form, and the fields of the next one. */
export function TryPane(): React.JSX.Element {
  const { trans } = useLaunch();
  const { tries, start } = useTry();
  const view = useValue(tries.changed, () => tries.view);
  const failure = useValue(tries.changed, () => tries.failure);
  const isActive = useValue(tries.changed, () => tries.isActive);
  const request = useModel(model => JSON.stringify(model.previewRequest));
  const isOlder = view !== null && !isActive && request !== tries.tried;
  const idle = isActive
    ? trans.__('Starting the try…')
    : trans.__('Not tried yet');
  return (
    <section className="jp-t9k-Try" aria-label={trans.__('Try here first')}>
      <div className="jp-t9k-Try-head" data-state={view?.state}>
        <div>
          <h3>
            {view && <Icon of={ICONS[view.state]} />}
            <span>{view ? headline(view, trans) : idle}</span>
          </h3>
        </div>
        {/* The region exists before its text, so that screen readers announce it; the steps would interrupt all else. */}
        <div role="status" className="jp-t9k-visuallyHidden">
          {view ? view.sentence : idle}
        </div>
        {view?.state === 'running' ? (
          <Button icon={stopIcon} onClick={() => void tries.stop()}>
            {trans.__('Stop the try')}
          </Button>
        ) : (
          <Button
            icon={view ? refreshIcon : undefined}
            aria-disabled={isActive || undefined}
            onClick={start}
          >
            {view ? trans.__('Try again') : trans.__('Start the try')}
          </Button>
        )}
      </div>
      {failure && (
        <p className="jp-t9k-Launch-stale" role="alert">
          {sentences([failure.message, failure.hint])}
        </p>
      )}
      {isOlder && (
        <p className="jp-t9k-Launch-stale" role="status">
          {trans.__('The form has changed since this try.')}
        </p>
      )}
      <div className="jp-t9k-Try-body" tabIndex={0}>
        {view ? (
          <Result view={view} tries={tries} />
        ) : (
          <p className="jp-t9k-secondary">
            {trans.__(
              'Runs the script on this machine with gloo on the processor, and ends it after the steps or the time. Errors show here instead of later in the cluster.'
            )}
          </p>
        )}
        {view && !isActive && <h4>{trans.__('Next try')}</h4>}
        {!isActive && <Settings tries={tries} />}
      </div>
      <SubmitAfter tries={tries} />
    </section>
  );
}

/** Return the sentence of a try; while it runs, with the number of steps. */
function headline(view: Try, trans: TranslationBundle): string {
  if (view.state !== 'running' || view.steps_done === 0) {
    return view.sentence;
  }
  return view.steps === null
    ? trans._n(
        'Trying on this machine: %1 step',
        'Trying on this machine: %1 steps',
        view.steps_done
      )
    : trans.__(
        'Trying on this machine: step %1 of %2',
        Math.min(view.steps_done, view.steps),
        view.steps
      );
}

/** Box that submits the job once the try has passed, and why that did not happen. */
function SubmitAfter({ tries }: { tries: TryModel }): React.JSX.Element {
  const { trans } = useLaunch();
  const wanted = useValue(tries.changed, () => tries.submitsWhenPassed);
  const why = useValue(tries.changed, () => tries.notSubmitted);
  const reasons: Record<NotSubmitted, string> = {
    notPassed: trans.__(
      'The job was not submitted, because the try did not pass.'
    ),
    changed: trans.__(
      'The job was not submitted, because the form has changed.'
    ),
    errors: trans.__('The job was not submitted, because the form has errors.')
  };
  return (
    <div className="jp-t9k-Try-foot">
      <label className="jp-t9k-Launch-check">
        <input
          type="checkbox"
          checked={wanted}
          onChange={event => tries.setSubmitsWhenPassed(event.target.checked)}
        />
        {trans.__('Submit when the try has passed')}
      </label>
      <span role="status">{why && reasons[why]}</span>
    </div>
  );
}

/** Fields of the next try. */
function Settings({ tries }: { tries: TryModel }): React.JSX.Element {
  const { trans } = useLaunch();
  const hasTorchrun = useModel(({ form }) => form.spec.torchrun !== null);
  return (
    <div className="jp-t9k-Try-settings">
      {hasTorchrun && (
        <SettingField
          name="processes"
          label={trans.__('Processes')}
          most={8}
          tries={tries}
        />
      )}
      <SettingField
        name="steps"
        label={trans.__('Steps')}
        most={10000}
        tries={tries}
      />
      <SettingField
        name="seconds"
        label={trans.__('Seconds at most')}
        least={5}
        most={600}
        tries={tries}
      />
    </div>
  );
}

/** Field of a number. An invalid text stays in the field, with the reason; the last valid number is used. */
function SettingField({
  name,
  label,
  least = 1,
  most,
  tries
}: {
  name: 'processes' | 'steps' | 'seconds';
  label: string;
  least?: number;
  most: number;
  tries: TryModel;
}): React.JSX.Element {
  const { trans, prefix } = useLaunch();
  const value = useValue(tries.changed, () => tries.settings[name]);
  const [draft, setDraft] = React.useState<string | null>(null);
  const id = `${prefix}try-${name}`;
  return (
    <div>
      <label htmlFor={id}>{label}</label>
      <Spinner
        id={id}
        text={draft ?? String(value ?? '')}
        min={least}
        max={most}
        style={{ width: 'calc(6ch + 40px)' }}
        aria-invalid={draft !== null || undefined}
        aria-describedby={draft !== null ? `${id}-problem` : undefined}
        onChange={text => {
          const number = Number(text);
          const fits = /^\d+$/.test(text) && number >= least && number <= most;
          setDraft(fits ? null : text);
          if (fits) {
            tries.set({ [name]: number });
          }
        }}
      />
      {draft !== null && (
        <span id={`${id}-problem`} className="jp-t9k-Try-problem">
          {trans.__('A whole number from %1 to %2.', least, most)}
        </span>
      )}
    </div>
  );
}

/** State or result of a try. */
function Result({
  view,
  tries
}: {
  view: Try;
  tries: TryModel;
}): React.JSX.Element {
  const { trans } = useLaunch();
  return (
    <>
      {view.hint && <p>{view.hint}</p>}
      {view.state === 'running' && <Running view={view} tries={tries} />}
      <Explanation view={view} />
      {view.state !== 'not_tried' && (
        <>
          <List title={null} sentences={view.notes} />
          <List title={trans.__('Not tried here')} sentences={view.untried} />
        </>
      )}
      <Lines view={view} />
    </>
  );
}

/** Progress of a running try. */
function Running({
  view,
  tries
}: {
  view: Try;
  tries: TryModel;
}): React.JSX.Element {
  const { trans } = useLaunch();
  const ran = (): number =>
    view.started_at === null
      ? 0
      : view.ran_seconds + (Date.now() - tries.answeredAt) / 1000;
  const time = useTicking(() => formatDuration(ran(), trans));
  const steps = view.steps === null ? 0 : view.steps_done / view.steps;
  const metrics = Object.entries(view.metrics).slice(0, 3);
  const size =
    view.processes === null
      ? trans.__('Running for %1, %2 at most', time, view.seconds)
      : trans._n(
          '%1 process on the processor for %2, %3 s at most',
          '%1 processes on the processor for %2, %3 s at most',
          view.processes,
          time,
          view.seconds
        );
  return (
    <>
      <ProgressBar
        fraction={Math.max(steps, Math.min(1, ran() / view.seconds))}
        label={trans.__('Progress of the try')}
        text={time}
        state="running"
      />
      <p>
        {size}
        {metrics.map(([name, value]) => (
          <span key={name} className="jp-t9k-Try-metric">
            {name} <strong>{Number(value.toPrecision(3))}</strong>
          </span>
        ))}
      </p>
    </>
  );
}

/** Reason and traceback of a try that failed, or that needs something that this machine does not have. */
function Explanation({ view }: { view: Try }): React.JSX.Element {
  const { trans, actions } = useLaunch();
  const { failure, reason } = view;
  const place = ownFrame({ failure }, trans);
  return (
    <>
      {reason && (
        <div className="jp-t9k-FailurePanel">
          <div>
            <h4>{reason.sentence}</h4>
            {(reason.hint || place) && (
              <p>
                {reason.hint}{' '}
                {place && (
                  <LinkButton
                    onClick={() =>
                      actions.openFile(place.path, place.line, place.cell)
                    }
                  >
                    {place.label}
                  </LinkButton>
                )}
              </p>
            )}
          </div>
        </div>
      )}
      {failure && (
        <Traceback
          failure={failure}
          trans={trans}
          openFile={({ path, line, cell }) =>
            actions.openFile(path, line, cell)
          }
        />
      )}
    </>
  );
}

function List({
  title,
  sentences
}: {
  title: string | null;
  sentences: readonly string[];
}): React.JSX.Element | null {
  return sentences.length === 0 ? null : (
    <>
      {title !== null && <h4>{title}</h4>}
      <ul>
        {sentences.map(sentence => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </>
  );
}

/** The last lines of the output, each with its rank. */
function Lines({ view }: { view: Try }): React.JSX.Element | null {
  const { trans } = useLaunch();
  const end = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    if (end.current && view.state === 'running') {
      end.current.scrollTop = end.current.scrollHeight;
    }
  }, [view]);
  return view.lines.length === 0 ? null : (
    <>
      <h4>{trans.__('Last lines of the output')}</h4>
      <div
        ref={end}
        className="jp-t9k-Try-lines"
        role="group"
        tabIndex={0}
        aria-label={trans.__('Last lines of the output')}
      >
        {view.lines.map(({ rank, text }, index) => (
          <div key={index}>
            <span>{rank}</span>
            <code>{text}</code>
          </div>
        ))}
      </div>
    </>
  );
}
