/** What continues a failed job, in one click. */
import { TranslationBundle } from '@jupyterlab/translation';
import { Fix, Frame, Job } from '../../api/types';

/** One thing to do about a failed job. */
export type NextStep =
  /** Open the form with the job's spec, with a change if there is one. */
  | { readonly kind: 'clone'; readonly fix: Fix | null }
  /** Open the file that the traceback ends in. */
  | { readonly kind: 'file'; readonly place: IFilePlace }
  | { readonly kind: 'rerun' | 'log' };

/** A line of a file that the lab can open. */
export interface IFilePlace {
  readonly path: string;
  readonly line: number;
  /** “train.py, line 96”. */
  readonly label: string;
}

/**
 * Return what continues a failed job, the most promising first.
 *
 * A change that the server offers comes first, then the user's own code where the traceback names it. What the
 * platform has ended is run again. Without a known cause there is the log, else the form.
 */
export function nextSteps(job: Job, trans: TranslationBundle): NextStep[] {
  const { failure, reason } = job;
  const place = ownPlace(job, trans);
  const clone: NextStep = { kind: 'clone', fix: reason?.fix ?? null };
  const rerun: NextStep[] = job.actions.includes('rerun')
    ? [{ kind: 'rerun' }]
    : [];
  const log: NextStep[] = failure?.link ? [{ kind: 'log' }] : [];
  if (clone.fix) {
    return [clone, ...log];
  }
  if (place) {
    return [{ kind: 'file', place }, ...rerun, ...log];
  }
  if (job.ended_by === 'platform') {
    return [...rerun, clone, ...log];
  }
  return failure && failure.error === null ? [...log, clone] : [clone, ...log];
}

/** Where the traceback ends in a file of the user's own. */
export function ownPlace(
  { failure }: Pick<Job, 'failure'>,
  trans: TranslationBundle
): IFilePlace | null {
  const own = (failure?.frames ?? []).filter(
    ({ library, path }) => !library && path !== null
  );
  const frame = own[own.length - 1];
  return frame?.path == null
    ? null
    : {
        path: frame.path,
        line: frame.line,
        label: trans.__('%1, line %2', baseName(shownFile(frame)), frame.line)
      };
}

/** A frame's file as the lab calls it, and its cell. */
export function shownFile({ file, path }: Frame): string {
  const cell = /\.ipynb(, cell \d+)$/.exec(file)?.[1] ?? '';
  return path === null ? file : path + cell;
}

function baseName(path: string): string {
  return path.split('/').pop() ?? path;
}
