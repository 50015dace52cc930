/** Where jobs are and whose they are, said only where it tells them apart. */
import { EngineInfo, JobSummary } from '../api/types';

/** What of a job's place is worth a word in a list. */
export interface ISpread {
  engines: boolean;
  namespaces: boolean;
}

/** Whether the jobs of a list are in several engines, or in several namespaces. */
export function spreadOf(jobs: readonly JobSummary[]): ISpread {
  const engines = new Set(jobs.map(({ engine }) => engine));
  const namespaces = new Set(
    jobs.filter(({ engine }) => engine !== 'local').map(job => job.namespace)
  );
  return { engines: engines.size > 1, namespaces: namespaces.size > 1 };
}

/** “lin · T9k · demo”; empty for a job of one's own that is where all are, or on this machine. */
export function placeText(
  job: JobSummary,
  spread: ISpread,
  engines: readonly EngineInfo[]
): string {
  const parts: string[] = [];
  if (!job.mine && job.owner) {
    parts.push(job.owner);
  }
  if (job.engine !== 'local') {
    if (spread.engines) {
      const engine = engines.find(({ name }) => name === job.engine);
      parts.push(engine?.label ?? job.engine);
    }
    if (spread.namespaces) {
      parts.push(job.namespace);
    }
  }
  return parts.join(' · ');
}
