/** Opening of the pages of the experiments: the table of runs, a run, a comparison, an artifact. */
import { CommandRegistry } from '@lumino/commands';
import { CommandIDs } from '../tokens';

/** Longest title of a tab: the lab's status bar shows the whole title. */
const LONGEST_TITLE = 60;

/** Return a name as the title of a tab. */
export function tabTitle(name: string): string {
  return name.length > LONGEST_TITLE
    ? `${name.slice(0, LONGEST_TITLE - 1)}…`
    : name;
}

/** Open the page of a run. */
export function openRun(commands: CommandRegistry, id: string): void {
  open(commands, 'run', [id]);
}

/** Open the comparison of runs. */
export function openComparison(
  commands: CommandRegistry,
  ids: readonly string[]
): void {
  open(commands, 'comparison', ids);
}

/** Open the page of an artifact. */
export function openArtifact(commands: CommandRegistry, id: string): void {
  open(commands, 'artifact', [id]);
}

function open(
  commands: CommandRegistry,
  page: string,
  ids: readonly string[]
): void {
  void commands.execute(CommandIDs.openExperiments, { page, ids: [...ids] });
}
