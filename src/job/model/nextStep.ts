/** Actions that continue the work on a failed job. */
import { TranslationBundle } from '@jupyterlab/translation';
import { Fix, Frame, Job } from '../../api/types';

/** Action that the tab offers for a failed job. */
export type NextStep =
  /** Open the form with the job's spec and, if given, with the server's proposed change. */
  | { readonly kind: 'clone'; readonly fix: Fix | null }
  /** Open the file at the last frame of the traceback. */
  | { readonly kind: 'file'; readonly place: IFilePlace }
  /** Run the job again, or show the log. */
  | { readonly kind: 'rerun' | 'log' };

/** A line of a file that the lab can open. */
export interface IFilePlace {
  readonly path: string;
  readonly line: number;
  /** Cell of a notebook, from 1, to which the line belongs. */
  readonly cell: number | null;
  /** Label of the place: “train.py, line 96”. */
  readonly label: string;
}

/**
 * Return the actions for a failed job, the most useful first.
 *
 * A change that the server proposes comes first. Next comes the user's own code, if the traceback names it. A
 * job that the platform ended is run again. Otherwise the log comes first if the failure has no known error,
 * else the form.
 */
export function nextSteps(job: Job, trans: TranslationBundle): NextStep[] {
  const { failure, reason } = job;
  const place = ownFrame(job, trans);
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

/** Return the last frame of the traceback in the user's own code; null if there is none. */
export function ownFrame(
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
        cell: cellOf(frame),
        label: trans.__('%1, line %2', baseName(shownFile(frame)), frame.line)
      };
}

/** Return the number of a frame's cell; null if the frame is not in a notebook. */
export function cellOf({ file }: Frame): number | null {
  const [, cell] = /\.ipynb, cell (\d+)$/.exec(file) ?? [];
  return cell ? Number(cell) : null;
}

/** Return the name of a frame's file in the lab, with the cell of a notebook. */
export function shownFile({ file, path }: Frame): string {
  const cell = /\.ipynb(, cell \d+)$/.exec(file)?.[1] ?? '';
  return path === null ? file : path + cell;
}

function baseName(path: string): string {
  return path.split('/').pop() ?? path;
}
