/** Pane of a job's manifest. */
import { Clipboard } from '@jupyterlab/apputils';
import { IEditorServices } from '@jupyterlab/codeeditor';
import { TranslationBundle } from '@jupyterlab/translation';
import { copyIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Job } from '../../api/types';
import { formatTime } from '../../common/format';
import { JobTabModel, ManifestLook } from '../model/jobTab';
import { compareLines, withoutServerParts } from '../model/manifestText';
import { Banner } from '../../ui/Banner';
import { IconButton } from '../../ui/Buttons';
import { Segments } from '../../ui/Segments';
import { YamlEditor } from '../../ui/editor/YamlEditor';
import { useManifest } from './useManifest';

/** Properties of the pane. */
interface IManifestPaneProps {
  model: JobTabModel;
  job: Job;
  editors: IEditorServices;
  trans: TranslationBundle;
}

/** Manifest of a job: the submitted version, the current version, or both with their differences. */
export function ManifestPane(props: IManifestPaneProps): React.JSX.Element {
  const { model, job, editors, trans } = props;
  const { manifestLook, hideServerParts } = model.state;
  const { manifest, error } = useManifest(model, job);
  const isGone = manifest?.current_text === null;
  const shown = React.useCallback(
    (text: string): string =>
      hideServerParts ? withoutServerParts(text) : text,
    [hideServerParts]
  );
  const submitted = shown(manifest?.submitted_text ?? '');
  const current = shown(manifest?.current_text ?? '');
  const both = manifest !== null && !isGone;
  const difference = React.useMemo(
    () => (both ? compareLines(submitted, current) : null),
    [both, submitted, current]
  );
  const look: ManifestLook = isGone ? 'submitted' : manifestLook;
  const now = liveNote(manifest?.current, trans);
  return (
    <div className="jp-t9k-Manifest">
      <div className="jp-t9k-Manifest-toolbar">
        <Segments<ManifestLook>
          aria-label={trans.__('Version to show')}
          value={look}
          onChange={value => model.set({ manifestLook: value })}
          segments={lookSegments(isGone, trans)}
        />
        <label className="jp-t9k-Manifest-hide">
          <input
            type="checkbox"
            checked={hideServerParts}
            onChange={event =>
              model.set({ hideServerParts: event.target.checked })
            }
          />
          {trans.__('Hide status and managed fields')}
        </label>
        {difference && (
          <span className="jp-t9k-secondary" role="status">
            {differenceText(difference.before, difference.after, trans)}
          </span>
        )}
      </div>
      {error && (
        <Banner level="warning" title={error.message}>
          {error.hint}
        </Banner>
      )}
      {!manifest && !error && (
        <p className="jp-t9k-LogEmpty" role="status">
          {trans.__('Reading the manifest…')}
        </p>
      )}
      {manifest && (
        <div className="jp-t9k-Manifest-sides">
          {look !== 'current' && (
            <Side
              title={
                job.mine ? trans.__('As submitted') : trans.__('As first seen')
              }
              note={submittedNote(job, trans)}
              text={submitted}
              lines={look === 'both' ? (difference?.before ?? []) : []}
              editors={editors}
              trans={trans}
            />
          )}
          {look !== 'submitted' && (
            <Side
              title={trans.__('As it is now')}
              note={now}
              text={current}
              lines={difference?.after ?? []}
              editors={editors}
              trans={trans}
            />
          )}
        </div>
      )}
    </div>
  );
}

/** One version of the manifest. */
function Side(props: {
  title: string;
  note: string;
  text: string;
  /** Numbers, from 1, of the lines that the other version does not contain. */
  lines: readonly number[];
  editors: IEditorServices;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { title, note, text, lines, editors, trans } = props;
  return (
    <section className="jp-t9k-Manifest-side" aria-label={title}>
      <header>
        <h3>{title}</h3>
        <span className="jp-t9k-caption">{note}</span>
        <IconButton
          icon={copyIcon}
          label={trans.__('Copy: %1', title)}
          onClick={() => Clipboard.copyToSystem(text)}
        />
      </header>
      <YamlEditor
        editors={editors}
        label={title}
        text={text.trimEnd()}
        marks={lines.map(line => ({ line, kind: 'edited' }))}
        place={null}
      />
    </section>
  );
}

/** Return the choices of versions. The current version is disabled if the cluster no longer has the job. */
function lookSegments(
  isGone: boolean,
  trans: TranslationBundle
): { value: ManifestLook; label: string; disabled: string | null }[] {
  const disabled = isGone
    ? trans.__('The job is no longer in the cluster.')
    : null;
  return [
    { value: 'both', label: trans.__('Side by side'), disabled },
    { value: 'submitted', label: trans.__('As submitted'), disabled: null },
    { value: 'current', label: trans.__('As it is now'), disabled }
  ];
}

/** Return the time of the submission and the owner. */
function submittedNote(job: Job, trans: TranslationBundle): string {
  const time = formatTime(job.created_at, trans);
  return job.owner ? trans.__('%1, by %2', time, job.owner) : time;
}

/** Return a text about the current version with its resource version. */
function liveNote(
  manifest: { [key: string]: unknown } | null | undefined,
  trans: TranslationBundle
): string {
  const metadata = manifest?.metadata;
  const version =
    metadata instanceof Object && 'resourceVersion' in metadata
      ? metadata.resourceVersion
      : null;
  return typeof version === 'string'
    ? trans.__('live, resource version %1', version)
    : trans.__('live');
}

/** Return a text with the number of lines that differ. */
function differenceText(
  before: readonly number[],
  after: readonly number[],
  trans: TranslationBundle
): string {
  const count = Math.max(before.length, after.length);
  return count === 0
    ? trans.__('No line differs')
    : trans._n('%1 line differs', '%1 lines differ', count);
}
