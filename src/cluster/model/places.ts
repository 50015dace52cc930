/** Locations in which a job can run: engines and their namespaces. */
import { EngineName } from '../../api/aliases';
import { NAMESPACE_PATTERN } from '../../api/constants';
import { Capability, EngineInfo } from '../../api/types';

/** An engine and a namespace; the namespace is empty for an engine without namespaces. */
export interface IPlace {
  engine: EngineName;
  namespace: string;
}

/** Return true if Kubernetes accepts a name for a namespace. */
export function isNamespace(name: string): boolean {
  return name !== '' && new RegExp(NAMESPACE_PATTERN).test(name);
}

/** The location of a form before an engine is known: the server chooses one. */
export const SERVERS_CHOICE: IPlace = { engine: '', namespace: '' };

/** Return the location in which a file is run for the first time. */
export function usualPlace(
  engines: readonly EngineInfo[],
  lastUsed: IPlace | null
): IPlace {
  const available = engines.filter(info => info.available);
  if (lastUsed && available.some(info => info.name === lastUsed.engine)) {
    return lastUsed;
  }
  // A lab in a pod belongs to its cluster; the kubeconfig of a laptop may name any cluster.
  const info =
    available.find(({ cluster }) => cluster && cluster.context === null) ??
    available.find(({ facts }) => facts.shares_lab_filesystem) ??
    available[0] ??
    engines[0];
  return info ? placeOn(info) : SERVERS_CHOICE;
}

/** Return an engine's location with its default namespace. */
export function placeOn(info: EngineInfo): IPlace {
  return { engine: info.name, namespace: info.default_namespace };
}

/** Return whether an engine has a capability; an engine has those that it does not mention. */
export function capability(
  engine: EngineInfo | null,
  name: string
): Capability {
  return engine?.capabilities[name] ?? { supported: true, reason: null };
}
