/** The launch form: header, groups of fields, footer, preview and checks. */
import { IEditorServices } from '@jupyterlab/codeeditor';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { LaunchModel } from '../model/launch';
import { LaunchStore } from '../model/store';
import { useValue, useWidth } from '../../common/hooks';
import { ILinePlace } from '../../ui/editor/YamlEditor';
import { ILaunchActions, LaunchContext, useModel } from '../parts/context';
import { CodeGroup } from '../code/CodeGroup';
import { SnapshotProvider } from '../code/useSnapshot';
import { DataGroup } from './DataGroup';
import { describeField } from '../parts/fieldNames';
import { Footer } from '../preview/Footer';
import { IFolding } from '../parts/groups/Group';
import { Header } from './Header';
import { LifecycleGroup } from './LifecycleGroup';
import { NotebookGroup } from './NotebookGroup';
import { Notices } from './Notices';
import { FoldedPreview, Preview } from '../preview/Preview';
import { Refusal } from '../parts/Refusal';
import { SweepGroup } from './SweepGroup';
import { SizeGroup } from './SizeGroup';
import { TensorBoardGroup } from './TensorBoardGroup';
import { TryProvider } from '../tries/useTry';
import { useFolding } from '../parts/groups/useFolding';
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
    const { group, fold } = describeField(wanted, trans) ?? {};
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
      <TryProvider>
        <SnapshotProvider>
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
        </SnapshotProvider>
      </TryProvider>
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
  const isSweep = useModel(model => model.isSweep);
  const notebook = useModel(now => now.notebook);
  const hasCode = useModel(
    model => model.can('source').supported || !!model.form.spec.source
  );
  return (
    <div className="jp-t9k-Launch-fields" data-locked={isLocked || undefined}>
      <WhatGroup folding={folding} />
      {isSweep && <SweepGroup folding={folding} />}
      {notebook && <NotebookGroup notebook={notebook} folding={folding} />}
      {hasCode && <CodeGroup folding={folding} />}
      {hasSize && <SizeGroup folding={folding} />}
      {hasWhere && <WhereGroup folding={folding} />}
      {hasPods && <DataGroup folding={folding} />}
      {hasLifecycle && <LifecycleGroup folding={folding} />}
      <TensorBoardGroup folding={folding} />
    </div>
  );
});
Fields.displayName = 'Fields';
