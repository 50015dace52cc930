/** Locations in which a job can run: engines and their namespaces. */
import { EngineName } from '../../api/aliases';
import { NAMESPACE_PATTERN } from '../../api/constants';
import { Capability, EngineInfo } from '../../api/types';

/** An engine and a namespace; the namespace is empty for an engine without namespaces. */
export interface ILocation {
  engine: EngineName;
  namespace: string;
}

/** Return true if Kubernetes accepts a name for a namespace. */
export function isNamespace(name: string): boolean {
  return name !== '' && new RegExp(NAMESPACE_PATTERN).test(name);
}

/** Location of a form before the engines are known: the server chooses an engine. */
export const SERVERS_CHOICE: ILocation = { engine: '', namespace: '' };

/**
 * Return the location for a file that was never run.
 *
 * @param engines - All engines.
 * @param lastUsed - Location of the last submitted job; null for none.
 */
export function usualLocation(
  engines: readonly EngineInfo[],
  lastUsed: ILocation | null
): ILocation {
  const available = engines.filter(
    info => info.available && info.facts.creates_jobs
  );
  if (lastUsed && available.some(info => info.name === lastUsed.engine)) {
    return lastUsed;
  }
  // A lab in a pod runs in its cluster. The kubeconfig of a laptop may name any cluster.
  const info =
    available.find(({ cluster }) => cluster && cluster.context === null) ??
    available.find(({ facts }) => facts.runs_on_lab_machine) ??
    available[0] ??
    engines[0];
  return info ? locationOn(info) : SERVERS_CHOICE;
}

/** Return an engine's default location. */
export function locationOn(info: EngineInfo): ILocation {
  return { engine: info.name, namespace: info.default_namespace };
}

/** Return an engine's capability. Capabilities that the engine doesn't list are supported. */
export function capability(
  engine: EngineInfo | null,
  name: string
): Capability {
  return engine?.capabilities[name] ?? { supported: true, reason: null };
}
