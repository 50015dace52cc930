/** Look-up of engines and their facts, including engines that are no longer installed. */
import { EngineFacts, EngineInfo } from '../api/types';

/** Facts of an engine with minimal features; used for an engine that the server does not name. */
const MINIMAL: EngineFacts = {
  shares_lab_filesystem: false,
  runs_on_lab_machine: false,
  runs_in_kernel: false,
  outlives_server: false,
  creates_jobs: true,
  queues_sweeps: false,
  has_namespaces: false,
  has_pods: false,
  manifest_kind: null,
  manifest_object: null,
  restart_texts: { with_torchrun: {}, without_torchrun: {} },
  description: null
};

/** Return an engine by its name; null if the server does not name it. */
export function engineOf(
  engines: readonly EngineInfo[],
  name: string
): EngineInfo | null {
  return engines.find(info => info.name === name) ?? null;
}

/** Return the facts of an engine; those of a minimal engine if the server does not name it. */
export function factsOf(
  engines: readonly EngineInfo[],
  name: string
): EngineFacts {
  return engineOf(engines, name)?.facts ?? MINIMAL;
}

/** Return an engine's label; its name if the server does not name it. */
export function labelOf(engines: readonly EngineInfo[], name: string): string {
  return engineOf(engines, name)?.label ?? name;
}

/** Return true if an engine's jobs are processes of this machine. */
export function isOnMachine(
  engines: readonly EngineInfo[],
  name: string
): boolean {
  return factsOf(engines, name).runs_on_lab_machine;
}

/** Return true if an engine is the only one that runs jobs on this machine, so that “this machine” identifies it. */
export function isTheMachine(
  engines: readonly EngineInfo[],
  name: string
): boolean {
  const here = engines.filter(({ facts }) => facts.runs_on_lab_machine);
  return here.length === 1 && here[0].name === name;
}

/** Return the engine of the cluster whose capacity is shown; null if there is no cluster. */
export function clusterEngine(
  engines: readonly EngineInfo[]
): EngineInfo | null {
  const clusters = engines.filter(({ cluster }) => cluster !== null);
  return clusters.find(({ available }) => available) ?? clusters[0] ?? null;
}

/** Return true while the server searches for clusters. */
export function isLooking(engines: readonly EngineInfo[]): boolean {
  return engines.length === 0 || engines.some(({ looking }) => looking);
}
