/** Where a job can run: engines, and their namespaces. */
import { EngineName } from '../../api/aliases';
import { NAMESPACE_PATTERN } from '../../api/constants';
import { Capability, EngineInfo } from '../../api/types';

/** An engine and a namespace of it; engines without namespaces have the empty one. */
export interface IPlace {
  engine: EngineName;
  namespace: string;
}

/** Return true if Kubernetes accepts a name for a namespace. */
export function isNamespace(name: string): boolean {
  return name !== '' && new RegExp(NAMESPACE_PATTERN).test(name);
}

/** Leaves the choice of the engine to the server. */
export const SERVERS_CHOICE: IPlace = { engine: '', namespace: '' };

/** Return where a file is run for the first time. */
export function usualPlace(
  engines: readonly EngineInfo[],
  lastUsed: IPlace | null
): IPlace {
  const available = engines.filter(info => info.available);
  if (lastUsed && available.some(info => info.name === lastUsed.engine)) {
    return lastUsed;
  }
  // A lab in a pod is there for its cluster; on a laptop a kubeconfig may lead anywhere.
  const info =
    available.find(({ cluster }) => cluster && cluster.context === null) ??
    available.find(({ facts }) => facts.shares_lab_filesystem) ??
    available[0] ??
    engines[0];
  return info ? placeOn(info) : SERVERS_CHOICE;
}

/** An engine with its usual namespace. */
export function placeOn(info: EngineInfo): IPlace {
  return { engine: info.name, namespace: info.default_namespace };
}

/** Whether an engine can do a thing; what it says nothing of, it can. */
export function capability(
  engine: EngineInfo | null,
  name: string
): Capability {
  return engine?.capabilities[name] ?? { supported: true, reason: null };
}
