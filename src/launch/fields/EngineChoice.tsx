/** Choice of the engine in the form's header. */
import { caretDownIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { EngineName } from '../../api/aliases';
import { EngineInfo } from '../../api/types';
import { IconButton, LinkButton } from '../../ui/Buttons';
import { Segments } from '../../ui/Segments';
import { useLaunch, useModel } from '../parts/context';

/** Choice of the engine. A button lists the engines that are unavailable. */
export function EngineChoice(): React.JSX.Element {
  const { model, trans, prefix } = useLaunch();
  const { engine, namespace, movingTo, isEdited } = useModel(({ state }) => ({
    engine: state.engine,
    namespace: state.namespace,
    movingTo: state.movingTo,
    isEdited: state.manifest !== null
  }));
  const engines = useModel(now => now.engines);
  const described = useModel(now => now.engine?.facts.description);
  const filling = useModel(now => (now.state.filling ? now.pending : null));
  const usable = engines.filter(info => info.available || info.name === engine);
  const off = engines.filter(info => !info.available);
  const locked = isEdited
    ? trans.__(
        'The manifest determines where the job runs. Go back to the form first.'
      )
    : filling;
  return (
    <span className="jp-t9k-Launch-engines">
      <Segments<EngineName>
        aria-label={trans.__('Where the job runs')}
        aria-describedby={described ? `${prefix}choice` : undefined}
        segments={usable.map(info => {
          const shown =
            info.name === engine ? namespace : info.default_namespace;
          return {
            value: info.name,
            label: shown ? `${info.label} · ${shown}` : info.label,
            disabled: info.name === engine ? null : locked
          };
        })}
        value={movingTo ?? engine}
        onChange={next => void model.moveTo(next)}
      />
      {off.length > 0 && <OtherEngines engines={off} id={`${prefix}engines`} />}
    </span>
  );
}

/** Sentence that says what the choice of the engine means; nothing for an engine that says nothing. */
export function EngineDescription(): React.JSX.Element | null {
  const { prefix } = useLaunch();
  const text = useModel(now => now.engine?.facts.description);
  return text ? (
    <p id={`${prefix}choice`} className="jp-t9k-Launch-choice jp-t9k-secondary">
      {text}
    </p>
  ) : null;
}

/** Button with a list of the unavailable engines and the reasons. */
function OtherEngines({
  engines,
  id
}: {
  engines: readonly EngineInfo[];
  id: string;
}): React.JSX.Element {
  const { model, trans } = useLaunch();
  const root = React.useRef<HTMLSpanElement>(null);
  const [open, setOpen] = React.useState(false);
  const [looking, setLooking] = React.useState(false);
  const close = () => {
    setOpen(false);
    root.current?.querySelector('button')?.focus();
  };
  const look = async () => {
    setLooking(true);
    await model.refreshEngines();
    setLooking(false);
  };
  return (
    <span
      ref={root}
      className="jp-t9k-Launch-others"
      onKeyDown={event => {
        if (open && event.key === 'Escape') {
          event.stopPropagation();
          close();
        }
      }}
      onBlur={event => {
        if (!root.current?.contains(event.relatedTarget)) {
          setOpen(false);
        }
      }}
    >
      <IconButton
        icon={caretDownIcon}
        label={trans._n(
          '%1 engine that can’t be used',
          '%1 engines that can’t be used',
          engines.length
        )}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      />
      <div id={id} hidden={!open} tabIndex={-1}>
        {engines.map(({ name, label, reason }) => (
          <p key={name}>
            <strong>{label}</strong>{' '}
            {reason ?? trans.__('It is not available.')}
          </p>
        ))}
        <LinkButton
          aria-disabled={looking || undefined}
          onClick={() => looking || void look()}
        >
          {looking ? trans.__('Looking…') : trans.__('Check again')}
        </LinkButton>
      </div>
    </span>
  );
}
