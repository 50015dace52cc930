import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Job } from '../../api/types';
import { Button, LinkButton } from '../Buttons';
import { failureText } from './text';
import { OpenFile } from './Traceback';

interface IFailurePanelProps {
  job: Job;
  trans: TranslationBundle;
  showInLog(): void;
  openFile: OpenFile;
}

/** Why a job failed, with what, and what to do. */
export function FailurePanel(
  props: IFailurePanelProps
): React.JSX.Element | null {
  const { job, trans, openFile } = props;
  const { reason, failure } = job;
  if (!reason) {
    return null;
  }
  const files = reason.links.flatMap(({ kind, label, path, line }) =>
    kind === 'file' && path !== null ? [{ label, path, line: line ?? 1 }] : []
  );
  const verbatim =
    reason.verbatim && !reason.sentence.includes(reason.verbatim)
      ? reason.verbatim
      : null;
  return (
    <section
      className="jp-t9k-FailurePanel"
      aria-label={trans.__('Why it failed')}
    >
      <div>
        <h3>{reason.sentence}</h3>
        {failure && <p>{failureText(failure, job, trans)}</p>}
        {verbatim && <pre>{verbatim}</pre>}
        {(reason.hint || files.length > 0) && (
          <>
            <h4>{trans.__('What to do')}</h4>
            <p>
              {reason.hint}{' '}
              {files.map(({ label, path, line }) => (
                <LinkButton
                  key={label}
                  onClick={() => openFile({ path, line })}
                >
                  {label}
                </LinkButton>
              ))}
            </p>
          </>
        )}
      </div>
      {failure?.link && (
        <Button onClick={props.showInLog}>{trans.__('Show in log')}</Button>
      )}
    </section>
  );
}
