/** Texts of stacks: runs of frames, headings, and the text for the clipboard. */
import { TranslationBundle } from '@jupyterlab/translation';
import {
  StackDump,
  StackFrame,
  StackGroup,
  StackMember
} from '../../api/types';
import { formatClock, listed } from '../../common/format';

/** Number of ranks that a heading names one by one. */
const MOST_RANKS = 16;

/** Frames that the view shows together: the user's own one by one, those of libraries folded. */
export interface IRun {
  library: boolean;
  frames: StackFrame[];
}

/** Split a stack into runs of library frames and of the user's own frames. */
export function runsOf(frames: readonly StackFrame[]): IRun[] {
  const runs: IRun[] = [];
  for (const frame of frames) {
    const last = runs[runs.length - 1];
    if (last && last.library === frame.library) {
      last.frames.push(frame);
    } else {
      runs.push({ library: frame.library, frames: [frame] });
    }
  }
  return runs;
}

/** Return the package of a library file, such as “torch/distributed”; the file's name for a file outside of packages. */
export function packageOf(file: string): string {
  const inside = file.replace(
    /^.*\/(?:site-packages|dist-packages|lib\/python[^/]*)\//,
    ''
  );
  const folders = inside.split('/');
  return inside.startsWith('/') || folders.length === 1
    ? folders[folders.length - 1]
    : folders.slice(0, Math.min(2, folders.length - 1)).join('/');
}

/** Return “frames in torch/distributed: all_reduce, wrapper” for a folded run. */
export function foldText({ frames }: IRun, trans: TranslationBundle): string {
  const shown = frames
    .slice(0, 3)
    .map(frame => frame.function.split('.').pop());
  const names = listed(frames.length > 3 ? [...shown, '…'] : shown);
  const place = packageOf(frames[0].file);
  return trans._n(
    '%1 frame in %2: %3',
    '%1 frames in %2: %3',
    frames.length,
    place,
    names
  );
}

/** Return where the ranks of a group run: “Ranks 0, 1 on worker-0; 2, 3 on worker-1”, or the process of a single one. */
export function membersText(
  { members }: StackGroup,
  trans: TranslationBundle
): string {
  const [first] = members;
  if (members.length === 1) {
    return trans.__('%1, pid %2', first.replica, first.pid);
  }
  const replicas = new Map<string, StackMember[]>();
  for (const member of members) {
    const known = replicas.get(member.replica) ?? [];
    replicas.set(member.replica, [...known, member]);
  }
  return [...replicas]
    .slice(0, 4)
    .map(([replica, several], index) =>
      trans.__('%1 on %2', ranksText(several, index === 0, trans), replica)
    )
    .concat(replicas.size > 4 ? ['…'] : [])
    .join(trans.__('; '));
}

function ranksText(
  members: readonly StackMember[],
  isFirst: boolean,
  trans: TranslationBundle
): string {
  const ranks = members
    .map(({ rank }) => rank)
    .filter((rank): rank is number => rank !== null);
  if (ranks.length === 0) {
    return trans._n('%1 process', '%1 processes', members.length);
  }
  const named = rankList(ranks);
  return isFirst ? trans.__('Ranks %1', named) : named;
}

/** Return the numbers of ranks with commas; an ellipsis stands for those beyond the first 16. */
export function rankList(ranks: readonly number[]): string {
  const shown = ranks.slice(0, MOST_RANKS).map(String);
  return listed(ranks.length > MOST_RANKS ? [...shown, '…'] : shown);
}

/** Return a group's stack as text, the innermost frame first. */
export function groupText(group: StackGroup, trans: TranslationBundle): string {
  return [
    group.title,
    membersText(group, trans),
    ...group.frames.map(
      frame =>
        `  ${frame.function} (${frame.file}${frame.line ? `:${frame.line}` : ''})`
    )
  ].join('\n');
}

/** Return all groups of a dump as text. */
export function dumpText(dump: StackDump, trans: TranslationBundle): string {
  return [
    trans.__('Stacks at %1', formatClock(dump.time, true)),
    ...dump.groups.map(group => groupText(group, trans))
  ].join('\n\n');
}

/** Return the text with a capital at its beginning. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
