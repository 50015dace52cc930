/** Preview of a job's command and environment. */
import { Clipboard } from '@jupyterlab/apputils';
import { copyIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { IconButton, LinkButton } from '../../ui/Buttons';
import { Segments } from '../../ui/Segments';
import { useLaunch, useModel } from '../parts/context';

/** Splits a line of the command into text (even indexes) and numbers (odd indexes). */
const NUMBER = /(?<=[\s=]|^)(-?\d+(?:\.\d+)?(?:e-?\d+)?)(?=\s|$)/;

/** The command that the job will run, and the environment variables that the job adds. */
export function CommandPane(): React.JSX.Element {
  const { trans } = useLaunch();
  const [tab, setTab] = React.useState<'command' | 'environment'>('command');
  const shown = useModel(({ preview }) => preview.shown);
  const edited = useModel(({ preview }) => preview.editedLines);
  const variables = Object.entries(shown?.environment ?? {});
  return (
    <section className="jp-t9k-Launch-command" aria-label={trans.__('Preview')}>
      <div className="jp-t9k-Launch-commandHead">
        <h3>{trans.__('Preview')}</h3>
        <Segments<'command' | 'environment'>
          aria-label={trans._p('choice', 'Show')}
          segments={[
            { value: 'command', label: trans.__('Command') },
            { value: 'environment', label: trans.__('Environment') }
          ]}
          value={tab}
          onChange={setTab}
        />
        <CopyButton
          text={
            tab === 'command'
              ? (shown?.command ?? '')
              : variables.map(pair => pair.join('=')).join('\n')
          }
        />
      </div>
      <StalePreview />
      {tab === 'command' ? (
        <CommandText
          command={shown?.command ?? ''}
          instead={shown?.summary ?? ''}
          edited={edited}
        />
      ) : (
        <div
          className="jp-t9k-Launch-environment"
          tabIndex={0}
          role="group"
          aria-label={trans.__('Environment')}
        >
          <p className="jp-t9k-caption">
            {trans.__('Added to the kernel’s environment:')}
          </p>
          {variables.map(([name, value]) => (
            <div key={name}>
              <code>
                <b>{name}</b>={value}
              </code>
            </div>
          ))}
        </div>
      )}
    </section>
  );
}

/** Notice that the preview may be older than the form, with the error of the last request. */
export function StalePreview(): React.JSX.Element | null {
  const { model, trans } = useLaunch();
  const failure = useModel(({ preview }) => preview.failure);
  return failure && !failure.field && !failure.line ? (
    <div className="jp-t9k-Launch-stale" role="status">
      {trans.__('The preview may be out of date.')} {failure.message}{' '}
      <LinkButton onClick={() => void model.preview.refresh()}>
        {trans.__('Try again')}
      </LinkButton>
    </div>
  ) : null;
}

/** Button that copies a text. */
export function CopyButton({ text }: { text: string }): React.JSX.Element {
  const { trans } = useLaunch();
  return (
    <IconButton
      icon={copyIcon}
      label={trans.__('Copy')}
      disabled={!text}
      onClick={() => Clipboard.copyToSystem(text)}
    />
  );
}

/** Lines of the command; some are marked. */
export function CommandText({
  command,
  instead,
  edited
}: {
  command: string;
  /** Text to show if there is no command. */
  instead: string;
  /** Numbers, from 0, of the marked lines. */
  edited: ReadonlySet<number>;
}): React.JSX.Element {
  const { trans } = useLaunch();
  return (
    <div
      className="jp-t9k-Launch-lines"
      tabIndex={0}
      role="group"
      aria-label={trans.__('Command')}
    >
      {command ? (
        command
          .split('\n')
          .map((line, index) => (
            <CommandLine
              key={index}
              line={line}
              number={index + 1}
              edited={edited.has(index)}
            />
          ))
      ) : (
        <p className="jp-t9k-secondary">{instead}</p>
      )}
    </div>
  );
}

function CommandLine({
  line,
  number,
  edited
}: {
  line: string;
  number: number;
  edited: boolean;
}): React.JSX.Element {
  const text = line.trimStart();
  const style = { '--jp-t9k-indent': line.length - text.length };
  return (
    <div data-edited={edited || undefined}>
      <span aria-hidden>{number}</span>
      <code style={style as React.CSSProperties}>
        {text.split(NUMBER).map(codePart)}
      </code>
    </div>
  );
}

/** Render a part of a split line: a number in the editor's color, or text that may break after each slash of a path. */
function codePart(part: string, index: number): React.JSX.Element {
  return index % 2 ? (
    <span key={index} className="jp-t9k-Launch-number">
      {part}
    </span>
  ) : (
    <React.Fragment key={index}>
      {part.split(/(?<=\/)/).map((piece, i) => (
        <React.Fragment key={i}>
          {i > 0 && <wbr />}
          {piece}
        </React.Fragment>
      ))}
    </React.Fragment>
  );
}
