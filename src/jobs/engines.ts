/** Facts about the engines of jobs, also of engines that are not installed any more. */
import { EngineFacts, EngineInfo } from '../api/types';

/** Facts of a minimal engine, which hold for an engine that the server does not name. */
const MINIMAL: EngineFacts = {
  shares_lab_filesystem: false,
  runs_in_kernel: false,
  outlives_server: false,
  has_namespaces: false,
  has_pods: false,
  manifest_kind: null,
  manifest_object: null,
  restart_texts: { with_torchrun: {}, without_torchrun: {} }
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
  return factsOf(engines, name).shares_lab_filesystem;
}

/** Return true if “this machine” names an engine: no other engine has its jobs there. */
export function isTheMachine(
  engines: readonly EngineInfo[],
  name: string
): boolean {
  const here = engines.filter(({ facts }) => facts.shares_lab_filesystem);
  return here.length === 1 && here[0].name === name;
}
