/** The launch form: header, groups of fields, footer, preview and checks. */
import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import { IEditorServices } from '@jupyterlab/codeeditor';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { LaunchModel } from '../model/launch';
import { LaunchStore } from '../model/store';
import { useValue, useWidth } from '../../common/hooks';
import { Icon } from '../../ui/Icon';
import { ILinePlace } from '../../ui/YamlEditor';
import { Checks, countChecks } from '../preview/Checks';
import { CommandPane, CopyButton } from '../preview/CommandPane';
import {
  ILaunchActions,
  LaunchContext,
  useLaunch,
  useModel
} from '../parts/context';
import { DataGroup } from './DataGroup';
import { placeOf } from '../parts/fieldNames';
import { Footer } from '../preview/Footer';
import { IFolding } from '../parts/Group';
import { Header } from './Header';
import { LifecycleGroup } from './LifecycleGroup';
import { ManifestPane } from '../preview/ManifestPane';
import { NotebookGroup } from './NotebookGroup';
import { Notices } from './Notices';
import { Refusal } from '../parts/Refusal';
import { SizeGroup } from './SizeGroup';
import { TensorBoardGroup } from './TensorBoardGroup';
import { useFolding } from '../parts/useFolding';
import { useFooterPlace } from '../preview/useFooterPlace';
import { WhatGroup } from './WhatGroup';
import { WhereGroup } from './WhereGroup';

/**
 * Parts of the form without properties.
 *
 * The constant elements keep their identity, so React renders these parts only when the model's values that they use
 * change.
 */
const ABOVE_FIELDS = (
  <>
    <Header />
    <Notices />
  </>
);
const BELOW_FIELDS = (
  <>
    <Refusal />
    <Footer />
  </>
);

/** Properties of the launch form. */
interface ILaunchFormProps {
  model: LaunchModel;
  store: LaunchStore;
  actions: ILaunchActions;
  editors: IEditorServices;
  trans: TranslationBundle;
  /** Prefix of the ids of the tab's elements. */
  prefix: string;
  /** Receives the form's actions while the form is shown. */
  handle: React.Ref<ILaunchFormHandle>;
}

/** Actions of a visible form for the lab's commands. */
export interface ILaunchFormHandle {
  /** Submit the form, or move the focus to the first error. */
  submit(): void;
}

/** Layouts of the form by their smallest width in px. */
const WIDTHS: [number, string][] = [
  [1100, 'full'],
  [760, 'medium'],
  [480, 'narrow'],
  [0, 'tiny']
];

/** Form of a launch tab, shown when the server has filled it. */
export function LaunchForm({
  model,
  store,
  actions,
  editors,
  trans,
  prefix,
  handle
}: ILaunchFormProps): React.JSX.Element {
  const root = React.useRef<HTMLFormElement>(null);
  const width = useWidth(root);
  const footer = useFooterPlace(root);
  const folding = useFolding(store);
  const [wanted, reveal] = React.useState<string | null>(null);
  const [linePlace, setLinePlace] = React.useState<ILinePlace | null>(null);
  const [isPreviewOpen, openPreview] = React.useState(false);
  const name = useValue(model.changed, () => model.name);

  // Opening the field's group or fold renders the form again; then this effect runs again and focuses the field.
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
  /** Move the focus to the first error. */
  const revealError = React.useCallback((): void => {
    const error = model.checks.find(check => check.level === 'error');
    if (error && model.state.manifest) {
      revealLine({ line: error.line ?? 1, column: error.column });
    } else if (error?.field) {
      reveal(error.field);
    }
  }, [model, revealLine]);

  const refusal = useValue(model.changed, () => model.state.refusal);
  React.useEffect(() => {
    if (refusal?.field || refusal?.line) {
      revealError();
    }
  }, [refusal, revealError]);

  const submit = React.useCallback((): void => {
    if (model.pending !== null) {
      return; // the footer shows the work that must end first
    }
    if (model.checks.some(check => check.level === 'error')) {
      revealError();
    } else {
      actions.submit();
    }
  }, [model, actions, revealError]);
  React.useImperativeHandle(handle, () => ({ submit }), [submit]);
  const size = WIDTHS.find(([least]) => width >= least)?.[1] ?? 'full';
  const single = size === 'narrow' || size === 'tiny';
  const context = React.useMemo(
    () => ({
      ...{ model, trans, editors, prefix, reveal, revealLine },
      actions: { ...actions, submit }
    }),
    [model, trans, actions, submit, editors, prefix, revealLine]
  );
  return (
    <LaunchContext.Provider value={context}>
      <form
        ref={root}
        className="jp-t9k-Launch"
        data-width={size}
        data-footer={footer}
        aria-label={trans.__('Run %1', name)}
        onSubmit={event => event.preventDefault()}
      >
        {ABOVE_FIELDS}
        <Fields folding={folding} />
        {BELOW_FIELDS}
        {single ? (
          <FoldedPreview
            open={isPreviewOpen}
            onToggle={openPreview}
            linePlace={linePlace}
          />
        ) : (
          <Preview linePlace={linePlace} />
        )}
      </form>
    </LaunchContext.Provider>
  );
}

/** Capabilities with fields in the group “Size”. */
const SIZES = ['torchrun', 'replicas', 'devices'];
/** Capabilities with fields in the group “Lifecycle”. */
const LIFECYCLE = ['restarts', 'deadline', 'pause'];

/** The groups that the engine supports. */
const Fields = React.memo(({ folding }: { folding: IFolding }) => {
  const isLocked = useModel(model => model.isLocked);
  const hasPods = useModel(({ facts }) => facts.has_pods);
  const hasWhere = useModel(
    ({ facts, offersImage }) => offersImage || facts.has_namespaces
  );
  const hasSize = useModel(model => SIZES.some(name => model.offers(name)));
  const hasLifecycle = useModel(model =>
    LIFECYCLE.some(name => model.offers(name))
  );
  const notebook = useModel(({ state }) => state.prefill?.notebook ?? null);
  return (
    <div className="jp-t9k-Launch-fields" data-locked={isLocked || undefined}>
      <WhatGroup folding={folding} />
      {notebook && <NotebookGroup notebook={notebook} folding={folding} />}
      {hasSize && <SizeGroup folding={folding} />}
      {hasWhere && <WhereGroup folding={folding} />}
      {hasPods && <DataGroup folding={folding} />}
      {hasLifecycle && <LifecycleGroup folding={folding} />}
      <TensorBoardGroup folding={folding} />
    </div>
  );
});
Fields.displayName = 'Fields';

/** Properties of the preview. */
interface IPreviewProps {
  id?: string;
  /** Position in the manifest to reveal. A new object reveals the position again. */
  linePlace: ILinePlace | null;
}

/** Manifest or command of the form, and its checks. */
const Preview = React.memo(({ id, linePlace }: IPreviewProps) => {
  const hasManifest = useModel(
    ({ facts, state }) =>
      facts.manifest_kind !== null || state.manifest !== null
  );
  return (
    <div id={id} className="jp-t9k-Launch-preview">
      {hasManifest ? <ManifestPane place={linePlace} /> : <CommandPane />}
      <Checks />
    </div>
  );
});
Preview.displayName = 'Preview';

/** Properties of the preview in a narrow form. */
interface IFoldedPreviewProps extends Pick<IPreviewProps, 'linePlace'> {
  open: boolean;
  onToggle(open: boolean): void;
}

/** Preview in a narrow form: one line that the user can open. */
function FoldedPreview({
  open,
  onToggle,
  linePlace
}: IFoldedPreviewProps): React.JSX.Element {
  const { trans, prefix } = useLaunch();
  const hasManifest = useModel(({ facts }) => facts.manifest_kind !== null);
  const counts = useModel(({ checks }) => countChecks(checks, trans));
  const command = useModel(({ preview }) => preview.shown?.command ?? '');
  const text = useModel(
    ({ state, preview }) =>
      state.manifest?.text ??
      preview.shown?.manifest ??
      preview.shown?.command ??
      ''
  );
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
            {hasManifest ? trans.__('Manifest') : trans.__('What will run')}
          </span>
          <span className="jp-t9k-caption">{counts}</span>
          {!open && <code>{oneLine(command)}</code>}
        </button>
        {!open && <CopyButton text={text} />}
      </div>
      {open && <Preview id={`${prefix}folded`} linePlace={linePlace} />}
    </div>
  );
}

/** Return a command on one line, without its change of directory and the path of its program. */
function oneLine(command: string): string {
  return command
    .replace(/^cd .*\n/, '')
    .replace(/^\/\S*\//, '')
    .replace(/\s*\\\n\s*/g, ' ');
}
