/** Section of a job's files. */
import { TranslationBundle } from '@jupyterlab/translation';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import * as React from 'react';
import { CheckpointFile, Checkpoints, Job, LogStream } from '../../api/types';
import { formatBytes, formatMoment, listed } from '../../common/format';
import { isActive } from '../../jobs/phase';
import { LinkButton } from '../../ui/Buttons';
import { InView } from '../../common/hooks';
import { CommandIDs } from '../../tokens';

/** Properties of the section. */
interface IKeptFilesProps {
  job: Job;
  /** Log streams of the job; null until they are known. */
  streams: readonly LogStream[] | null;
  /** Let the server search the folders of an ended job for checkpoints. */
  readCheckpoints(): Promise<Checkpoints>;
  openFolder(path: string): void;
  showRuns(job: Job): void;
  downloadLogs(): void;
  /** Download the job's archive. */
  exportJob(): void;
  run(command: string, args?: ReadonlyPartialJSONObject): void;
  has(command: string): boolean;
  trans: TranslationBundle;
}

/** Files that the job has written: checkpoints, event files and logs. */
export function KeptFiles(props: IKeptFilesProps): React.JSX.Element {
  const { job, streams, trans } = props;
  const size = streams?.reduce((sum, stream) => sum + stream.size, 0);
  const checkpoints = useCheckpoints(job, props.readCheckpoints);
  return (
    <section className="jp-t9k-Section">
      <h3>
        {job.phase === 'Failed' ? trans.__('Kept files') : trans.__('Files')}
      </h3>
      <dl className="jp-t9k-Facts">
        {checkpoints && checkpoints.folders.length > 0 && (
          <>
            <dt>{trans.__('Checkpoints')}</dt>
            <dd>
              <CheckpointFiles {...props} checkpoints={checkpoints} />
            </dd>
          </>
        )}
        {job.log_dirs.map((directory, index) => {
          const path = job.log_dir_paths[index] ?? null;
          return (
            <React.Fragment key={directory}>
              <dt>{trans.__('TensorBoard')}</dt>
              <dd>
                {path === null ? (
                  <code>{directory}</code>
                ) : (
                  <LinkButton
                    title={directory}
                    onClick={() => props.openFolder(path)}
                  >
                    <code>{path}</code>
                  </LinkButton>
                )}
              </dd>
            </React.Fragment>
          );
        })}
        <dt>{trans.__('Runs')}</dt>
        <dd>
          <LinkButton onClick={() => props.showRuns(job)}>
            {trans.__('Show in Experiments')}
          </LinkButton>
        </dd>
        <dt>{trans.__('Logs')}</dt>
        <dd>
          {size ? (
            <>
              <LinkButton onClick={props.downloadLogs}>
                {trans.__('Download')}
              </LinkButton>
              {` · ${formatBytes(size)}`}
            </>
          ) : (
            trans.__('nothing written so far')
          )}
        </dd>
        <dt>{trans._p('file', 'Archive')}</dt>
        <dd>
          <LinkButton
            title={trans.__(
              'Record, specification, logs, events, samples and stacks in one ZIP file, without secrets. “Open as Job Archive” in the file browser shows it in any JupyterLab with this extension.'
            )}
            onClick={props.exportJob}
          >
            {trans.__('Export the job')}
          </LinkButton>
        </dd>
      </dl>
    </section>
  );
}

/** Folder of the newest checkpoint, and number and size of the checkpoints that changed while the job ran. */
function CheckpointFiles(
  props: IKeptFilesProps & { checkpoints: Checkpoints }
): React.JSX.Element {
  const { trans } = props;
  const { complete, count, folders, newest, size } = props.checkpoints;
  if (!newest) {
    return (
      <span title={folders.map(folder => `${folder}/`).join('\n')}>
        {complete
          ? trans.__('none found in the job’s folders')
          : trans.__('none found; not all folders were looked through')}
      </span>
    );
  }
  const slash = newest.path.lastIndexOf('/');
  const folder = newest.path.slice(0, Math.max(0, slash));
  const files = complete
    ? trans._n('%1 file', '%1 files', count)
    : trans._n('at least %1 file', 'at least %1 files', count);
  return (
    <>
      <LinkButton
        title={folder}
        onClick={() => props.openFolder(folder)}
        aria-label={trans.__('Open the folder %1', folder)}
      >
        <code>{folder || trans.__('the root folder')}</code>
      </LinkButton>
      <span
        title={trans.__(
          'Files such as .pt, .ckpt and .safetensors that were changed while the job ran'
        )}
      >
        {' · '}
        {listed([
          files,
          formatBytes(size),
          trans.__(
            'the newest %1 %2',
            newest.path.slice(slash + 1),
            formatMoment(newest.time, trans)
          )
        ])}
      </span>
      <Resumes {...props} newest={newest} />
    </>
  );
}

/** Buttons that open the form with a clone of the job that resumes from a checkpoint, or why there are none. */
function Resumes(
  props: IKeptFilesProps & { checkpoints: Checkpoints; newest: CheckpointFile }
): React.JSX.Element | null {
  const { checkpoints, newest, trans } = props;
  if (!props.has(CommandIDs.clone)) {
    return null;
  }
  if (checkpoints.resume_problem) {
    return <div className="jp-t9k-secondary">{checkpoints.resume_problem}</div>;
  }
  const older = checkpoints.files.filter(
    ({ path, resume }) => resume && path !== newest.path
  );
  return (
    <>
      <div>
        <ResumeButton {...props} file={newest} />
      </div>
      {older.length > 0 && (
        <details>
          <summary>{trans.__('Older checkpoints')}</summary>
          <ul>
            {older.map(file => (
              <li key={file.path}>
                <code>{file.path}</code>
                {` · ${listed([formatBytes(file.size), formatMoment(file.time, trans)])} · `}
                <ResumeButton {...props} file={file} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function ResumeButton({
  file,
  checkpoints,
  run,
  trans
}: IKeptFilesProps & {
  file: CheckpointFile;
  checkpoints: Checkpoints;
}): React.JSX.Element | null {
  const fix = file.resume as unknown as ReadonlyPartialJSONObject | null;
  return fix ? (
    <LinkButton
      aria-label={trans.__('Run again from this checkpoint: %1', file.path)}
      title={trans.__(
        'Opens the form with a clone of the job in which %1 names this checkpoint',
        checkpoints.resume_option ?? ''
      )}
      onClick={() => run(CommandIDs.clone, { fix })}
    >
      {trans.__('Run again from this checkpoint')}
    </LinkButton>
  ) : null;
}

/**
 * Return the checkpoints of an ended job, searched for when its overview is first visible; null until they are known.
 */
function useCheckpoints(
  job: Job,
  read: () => Promise<Checkpoints>
): Checkpoints | null {
  const [found, setFound] = React.useState<Checkpoints | null>(null);
  const inView = React.useContext(InView);
  const wanted = inView && !isActive(job) && job.started_at !== null;
  React.useEffect(() => {
    if (!wanted) {
      return;
    }
    let current = true;
    read().then(
      checkpoints => current && setFound(checkpoints),
      (error: unknown) => console.warn('t9kjob: checkpoints:', error)
    );
    return () => {
      current = false;
    };
  }, [read, wanted, job.ended_at]);
  return found;
}
