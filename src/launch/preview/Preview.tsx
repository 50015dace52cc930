/** Preview of the launch form: manifest or command, script, files and tries, with the checks below. */
import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Icon } from '../../ui/Icon';
import { Segments } from '../../ui/Segments';
import { ILinePlace } from '../../ui/editor/YamlEditor';
import { SnapshotPane } from '../code/SnapshotPane';
import { useLaunch, useModel } from '../parts/context';
import { TryPane } from '../tries/TryPane';
import { canTry, useTry } from '../tries/useTry';
import { Checks, countChecks } from './Checks';
import { CommandPane, CopyButton } from './CommandPane';
import { ManifestPane } from './ManifestPane';
import { ScriptPane } from './ScriptPane';
import { SweepPane } from './SweepPane';

/** Properties of the preview. */
interface IPreviewProps {
  id?: string;
  /** Position in the manifest to reveal. A new object reveals the position again. */
  linePlace: ILinePlace | null;
}

/** Manifest or command of the form, and its checks. */
export const Preview = React.memo(({ id, linePlace }: IPreviewProps) => {
  const hasManifest = useModel(
    ({ facts, state }) =>
      facts.manifest_kind !== null || state.manifest !== null
  );
  const isSweep = useModel(model => model.isSweep);
  const isEdited = useModel(({ state }) => state.manifest !== null);
  const hasSnapshot = useModel(
    ({ form }) => form.spec.source?.kind === 'snapshot'
  );
  const notebook = useModel(now => now.notebook);
  const offersTry = useModel(canTry);
  const { shown } = useTry();
  const [wanted, want] = React.useState<PreviewPane>('job');
  const panes: PreviewPane[] = ['job'];
  if (notebook !== null && !isEdited) {
    panes.push('script');
  }
  if (hasSnapshot && !isEdited) {
    panes.push('code');
  }
  if (offersTry) {
    panes.push('try');
  }
  const pane = panes.includes(wanted) ? wanted : 'job';
  React.useEffect(() => {
    if (hasSnapshot) {
      want('code');
    }
  }, [hasSnapshot]);
  React.useEffect(() => {
    if (shown > 0) {
      want('try');
    }
  }, [shown]);
  // Show the manifest if a position in it is to be shown.
  React.useEffect(() => {
    if (linePlace) {
      want('job');
    }
  }, [linePlace]);
  return (
    <div id={id} className="jp-t9k-Launch-preview">
      {panes.length > 1 && !isSweep && (
        <PreviewChoice
          panes={panes}
          pane={pane}
          hasManifest={hasManifest}
          onChange={want}
        />
      )}
      {isSweep ? (
        <SweepPane />
      ) : pane === 'script' && notebook !== null ? (
        <ScriptPane notebook={notebook} />
      ) : pane === 'code' ? (
        <SnapshotPane />
      ) : pane === 'try' ? (
        <TryPane />
      ) : hasManifest ? (
        <ManifestPane place={linePlace} />
      ) : (
        <CommandPane />
      )}
      <Checks />
    </div>
  );
});
Preview.displayName = 'Preview';

/** Panes of the preview: manifest or command, a notebook's script, the files of a snapshot, and tries. */
type PreviewPane = 'job' | 'script' | 'code' | 'try';

/** Choice between the panes of the preview. */
function PreviewChoice({
  panes,
  pane,
  hasManifest,
  onChange
}: {
  panes: readonly PreviewPane[];
  pane: PreviewPane;
  hasManifest: boolean;
  onChange(pane: PreviewPane): void;
}): React.JSX.Element {
  const { trans } = useLaunch();
  const labels = {
    job: hasManifest ? trans.__('Manifest') : trans.__('Job'),
    script: trans.__('Script'),
    code: trans.__('Code'),
    try: trans.__('Try')
  };
  return (
    <div className="jp-t9k-Launch-previewChoice">
      <Segments<PreviewPane>
        aria-label={trans.__('Preview')}
        segments={panes.map(value => ({ value, label: labels[value] }))}
        value={pane}
        onChange={onChange}
      />
    </div>
  );
}

/** Properties of the preview in a narrow form. */
interface IFoldedPreviewProps extends Pick<IPreviewProps, 'linePlace'> {
  open: boolean;
  onToggle(open: boolean): void;
}

/** Preview in a narrow form: one line that the user can open. */
export function FoldedPreview({
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
  const { shown } = useTry();
  React.useEffect(() => {
    if (shown > 0) {
      onToggle(true);
    }
  }, [shown, onToggle]);
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
            {hasManifest ? trans.__('Manifest') : trans.__('Preview')}
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
