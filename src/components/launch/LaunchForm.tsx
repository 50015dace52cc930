import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import { IEditorServices } from '@jupyterlab/codeeditor';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { LaunchModel } from '../../model/launch';
import { LaunchStore } from '../../model/launchStore';
import { useSignal, useWidth } from '../hooks';
import { Icon } from '../Icon';
import { ILinePlace } from '../YamlEditor';
import { Checks, countChecks } from './Checks';
import { CommandPane, CopyButton } from './CommandPane';
import { ILaunchActions, LaunchContext, useLaunch } from './context';
import { DataGroup } from './DataGroup';
import { placeOf } from './fieldNames';
import { Footer } from './Footer';
import { IFolding } from './Group';
import { Header } from './Header';
import { LifecycleGroup } from './LifecycleGroup';
import { ManifestPane } from './ManifestPane';
import { NotebookGroup } from './NotebookGroup';
import { Notices } from './Notices';
import { Refusal } from './Refusal';
import { SizeGroup } from './SizeGroup';
import { TensorBoardGroup } from './TensorBoardGroup';
import { useFolding } from './useFolding';
import { WhatGroup } from './WhatGroup';
import { WhereGroup } from './WhereGroup';

interface ILaunchFormProps {
  model: LaunchModel;
  store: LaunchStore;
  actions: ILaunchActions;
  editors: IEditorServices;
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
  editors,
  trans,
  prefix
}: ILaunchFormProps): React.JSX.Element {
  const root = React.useRef<HTMLFormElement>(null);
  const width = useWidth(root);
  const folding = useFolding(store);
  const [wanted, reveal] = React.useState<string | null>(null);
  const [linePlace, setLinePlace] = React.useState<ILinePlace | null>(null);
  const [isPreviewOpen, openPreview] = React.useState(false);
  useSignal(model.changed);
  const { checks } = model;

  // The field may be in a group that opens only now.
  React.useEffect(() => {
    if (wanted === null) {
      return;
    }
    const { group, fold } = placeOf(wanted, trans) ?? {};
    for (const part of [group, fold]) {
      if (part && !folding.isOpen(part)) {
        folding.toggle(part);
        return;
      }
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

  const revealLine = React.useCallback((place: ILinePlace) => {
    openPreview(true);
    setLinePlace({ ...place });
  }, []);
  /** Put the focus to what is wrong first. */
  const revealError = React.useCallback((): void => {
    const error = model.checks.find(check => check.level === 'error');
    if (error && model.state.manifest) {
      revealLine({ line: error.line ?? 1, column: error.column });
    } else if (error?.field) {
      reveal(error.field);
    }
  }, [model, revealLine]);

  const { refusal } = model.state;
  React.useEffect(() => {
    if (refusal?.field || refusal?.line) {
      revealError();
    }
  }, [refusal, revealError]);

  const submit = () => {
    if (model.checks.some(check => check.level === 'error')) {
      revealError();
    } else {
      actions.submit();
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
        editors,
        checks,
        prefix,
        reveal,
        revealLine,
        linePlace
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
        <Notices />
        <div className="jp-t9k-Launch-main">
          <Fields folding={folding} />
          {!single && <Preview />}
        </div>
        {single && (
          <FoldedPreview open={isPreviewOpen} onToggle={openPreview} />
        )}
        <Refusal />
        <Footer />
      </form>
    </LaunchContext.Provider>
  );
}

function Fields({ folding }: { folding: IFolding }): React.JSX.Element {
  const { model } = useLaunch();
  const { prefill } = model.state;
  return (
    <div
      className="jp-t9k-Launch-fields"
      data-locked={model.isLocked || undefined}
    >
      <WhatGroup folding={folding} />
      {prefill?.notebook && (
        <NotebookGroup notebook={prefill.notebook} folding={folding} />
      )}
      <SizeGroup folding={folding} />
      {model.isCluster && <WhereGroup folding={folding} />}
      {model.isCluster && <DataGroup folding={folding} />}
      <LifecycleGroup folding={folding} />
      <TensorBoardGroup folding={folding} />
    </div>
  );
}

/** What will run, and what is known about it. */
function Preview({ id }: { id?: string }): React.JSX.Element {
  const { model } = useLaunch();
  return (
    <div id={id} className="jp-t9k-Launch-preview">
      {model.isCluster || model.state.manifest ? (
        <ManifestPane />
      ) : (
        <CommandPane />
      )}
      <Checks />
    </div>
  );
}

interface IFoldedPreviewProps {
  open: boolean;
  onToggle(open: boolean): void;
}

/** Where there is no room beside the form: one line that opens. */
function FoldedPreview({
  open,
  onToggle
}: IFoldedPreviewProps): React.JSX.Element {
  const { model, trans, checks, prefix } = useLaunch();
  const { manifest } = model.state;
  const { shown } = model.preview;
  const command = shown?.command ?? '';
  const text = manifest?.text ?? shown?.manifest ?? command;
  const caret = open ? caretDownIcon : caretRightIcon;
  return (
    <div className="jp-t9k-Launch-folded">
      <div>
        <button
          type="button"
          aria-expanded={open}
          aria-controls={`${prefix}folded`}
          onClick={() => onToggle(!open)}
        >
          <Icon of={caret} />
          <span>
            {model.isCluster ? trans.__('Manifest') : trans.__('What will run')}
          </span>
          <span className="jp-t9k-caption">{countChecks(checks, trans)}</span>
          {!open && <code>{oneLine(command)}</code>}
        </button>
        {!open && <CopyButton text={text} />}
      </div>
      {open && <Preview id={`${prefix}folded`} />}
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
