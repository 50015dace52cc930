import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { LaunchModel } from '../../model/launch';
import { LaunchStore } from '../../model/launchStore';
import { useSignal, useWidth } from '../hooks';
import { Checks, countChecks } from './Checks';
import { CommandPane, CopyButton } from './CommandPane';
import { ILaunchActions, LaunchContext, useLaunch } from './context';
import { placeOf } from './fieldNames';
import { Footer } from './Footer';
import { IFolding } from './Group';
import { Header } from './Header';
import { LifecycleGroup } from './LifecycleGroup';
import { NotebookGroup } from './NotebookGroup';
import { SizeGroup } from './SizeGroup';
import { TensorBoardGroup } from './TensorBoardGroup';
import { useFolding } from './useFolding';
import { WhatGroup } from './WhatGroup';

interface ILaunchFormProps {
  model: LaunchModel;
  store: LaunchStore;
  actions: ILaunchActions;
  trans: TranslationBundle;
  /** Begins the ids of this tab's elements. */
  prefix: string;
}

/** Widths (px) from which the form looks different. */
const WIDTHS: [number, string][] = [
  [1100, 'full'],
  [760, 'medium'],
  [480, 'narrow'],
  [0, 'tiny']
];

/** The filled form of a launch tab: engine, fields, what will run, and Submit. */
export function LaunchForm({
  model,
  store,
  actions,
  trans,
  prefix
}: ILaunchFormProps): React.JSX.Element {
  const root = React.useRef<HTMLFormElement>(null);
  const width = useWidth(root);
  const folding = useFolding(store);
  const [wanted, reveal] = React.useState<string | null>(null);
  useSignal(model.changed);
  const { checks } = model;

  // The field may be in a group that opens only now.
  React.useEffect(() => {
    if (wanted === null) {
      return;
    }
    const group = placeOf(wanted, trans)?.group;
    if (group && !folding.isOpen(group)) {
      folding.toggle(group);
      return;
    }
    const field = root.current?.querySelector<HTMLElement>(
      `[data-field="${CSS.escape(wanted)}"]`
    );
    const target = field?.matches('[role="radiogroup"]')
      ? field.querySelector<HTMLElement>('[aria-checked="true"]')
      : field;
    target?.focus();
    target?.scrollIntoView({ block: 'nearest' });
    reveal(null);
  }, [wanted, folding, trans]);

  const { refusal } = model.state;
  React.useEffect(() => {
    const error = model.checks.find(check => check.level === 'error');
    if (refusal?.field && error?.field) {
      reveal(error.field);
    }
  }, [refusal, model]);

  const submit = () => {
    const error = model.checks.find(check => check.level === 'error');
    if (!error) {
      actions.submit();
    } else if (error.field) {
      reveal(error.field);
    }
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      event.stopPropagation();
      submit();
    }
  };
  const size = WIDTHS.find(([least]) => width >= least)?.[1] ?? 'full';
  const single = size === 'narrow' || size === 'tiny';
  return (
    <LaunchContext.Provider
      value={{
        model,
        trans,
        actions: { ...actions, submit },
        checks,
        prefix,
        reveal
      }}
    >
      <form
        ref={root}
        className="jp-t9k-Launch"
        data-width={size}
        aria-label={trans.__('Run %1', model.name)}
        onKeyDown={onKeyDown}
        onSubmit={event => event.preventDefault()}
      >
        <Header />
        <div className="jp-t9k-Launch-main">
          <Fields folding={folding} />
          {!single && (
            <div className="jp-t9k-Launch-preview">
              <CommandPane />
              <Checks />
            </div>
          )}
        </div>
        {single && <FoldedPreview />}
        <Footer />
      </form>
    </LaunchContext.Provider>
  );
}

function Fields({ folding }: { folding: IFolding }): React.JSX.Element {
  const { prefill } = useLaunch().model.state;
  return (
    <div className="jp-t9k-Launch-fields">
      <WhatGroup folding={folding} />
      {prefill?.notebook && (
        <NotebookGroup notebook={prefill.notebook} folding={folding} />
      )}
      <SizeGroup folding={folding} />
      <LifecycleGroup folding={folding} />
      <TensorBoardGroup folding={folding} />
    </div>
  );
}

/** Where there is no room beside the form: one line that opens. */
function FoldedPreview(): React.JSX.Element {
  const { model, trans, checks, prefix } = useLaunch();
  const [open, setOpen] = React.useState(false);
  const command = model.preview.shown?.command ?? '';
  const Caret = open ? caretDownIcon : caretRightIcon;
  return (
    <div className="jp-t9k-Launch-folded">
      <div>
        <button
          type="button"
          aria-expanded={open}
          aria-controls={`${prefix}folded`}
          onClick={() => setOpen(!open)}
        >
          <Caret.react tag="span" />
          <span>{trans.__('What will run')}</span>
          <span className="jp-t9k-caption">{countChecks(checks, trans)}</span>
          {!open && <code>{oneLine(command)}</code>}
        </button>
        {!open && <CopyButton text={command} />}
      </div>
      {open && (
        <div id={`${prefix}folded`} className="jp-t9k-Launch-preview">
          <CommandPane />
          <Checks />
        </div>
      )}
    </div>
  );
}

/** A command without directories, and without its line ends. */
function oneLine(command: string): string {
  return command
    .replace(/^cd .*\n/, '')
    .replace(/^\/\S*\//, '')
    .replace(/\s*\\\n\s*/g, ' ');
}
