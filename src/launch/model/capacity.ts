/** Free capacity of the form's cluster, and the quotas of the form's namespace. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { ApiClient } from '../../api/client';
import { expectApiError } from '../../api/errors';
import { Capacity, Pool, QuotaLine } from '../../api/types';
import { IJobsModel } from '../../tokens';
import { knowsNodes, poolsFor, quotaLines } from '../../cluster/model/capacity';
import { ILaunchForm } from '../content/form';
import { ILocation } from '../../cluster/model/locations';

/** Time for which the quotas of a namespace that the page does not subscribe to are reused, in ms. */
const FRESH = 10_000;

/** Quotas that the page has requested. */
interface IAsked {
  namespace: string;
  /** Null before the first answer. */
  lines: QuotaLine[] | null;
  /** Time of the request, in ms. */
  at: number;
}

/**
 * Capacity and quotas that the form shows beside its fields.
 *
 * The capacity is kept current until the object that `watch` returned is disposed.
 */
export class LaunchCapacity implements IDisposable {
  /**
   * @param _jobs - The page's jobs model, which receives the capacity; null if there is none.
   * @param _location - Returns the location of the form's job.
   * @param _isInCluster - Returns true if the location is in a cluster.
   */
  constructor(
    private readonly _api: ApiClient,
    private readonly _jobs: Pick<
      IJobsModel,
      'capacity' | 'watchCapacity' | 'changed'
    > | null,
    private readonly _location: () => ILocation,
    private readonly _isInCluster: () => boolean
  ) {
    _jobs?.changed.connect(this._onJobs, this);
  }

  /** Capacity of the cluster; null while it is not known, and for a job that does not run in a cluster. */
  get known(): Capacity | null {
    return this._isInCluster() ? (this._jobs?.capacity ?? null) : null;
  }

  /** Quotas of the form's namespace; null while they are not known. */
  get limits(): QuotaLine[] | null {
    const { known } = this;
    const { namespace } = this._location();
    const watched = known && quotaLines(known, namespace);
    const asked =
      this._asked?.namespace === namespace ? this._asked.lines : null;
    return watched ?? asked;
  }

  /**
   * Return the pools in which a job with these devices and labels can be placed.
   *
   * @param device - Resource name and number of the devices per replica; null for none.
   * @param labels - Labels that the job's nodes must have.
   */
  chosen(
    device: { name: string; count: number } | null,
    labels: Readonly<Record<string, string>>
  ): Pool[] {
    const pools = this.known?.pools ?? [];
    return device?.count ? poolsFor(pools, device.name, labels) : [];
  }

  /**
   * Return the largest free amount of a resource on a node that also has the devices; null if it is not known.
   *
   * @param resource - Kubernetes' name of the resource, such as `memory`.
   * @param device - Resource name and number of the devices per replica; null for none.
   * @param labels - Labels that the job's nodes must have.
   */
  mostFree(
    resource: string,
    device: { name: string; count: number } | null,
    labels: Readonly<Record<string, string>>
  ): number | null {
    const { known } = this;
    if (!known || !knowsNodes(known)) {
      return null;
    }
    const pools = this.chosen(device, labels);
    const places = pools.map(({ most_beside }) => most_beside);
    const most = (places.length ? places : [known.most_on_a_node]).flatMap(
      devices => devices[resource] ?? []
    );
    return most.length ? Math.max(...most) : null;
  }

  /** Emitted when the capacity or the quotas change. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    Signal.clearData(this);
  }

  /** Keep the capacity current until the returned object is disposed. */
  watch(): IDisposable | null {
    return this._jobs?.watchCapacity() ?? null;
  }

  /** Request the quotas of the form's namespace, unless the page subscribes to them or has recent ones. */
  async askLimits(): Promise<void> {
    const { engine, namespace } = this._location();
    const { known } = this;
    const isFresh =
      this._asked?.namespace === namespace &&
      performance.now() - this._asked.at < FRESH;
    if (!known || quotaLines(known, namespace) || !namespace || isFresh) {
      return;
    }
    const before = this._asked?.namespace === namespace ? this._asked : null;
    const asked = {
      lines: before?.lines ?? null,
      namespace,
      at: performance.now()
    };
    this._asked = asked;
    try {
      const capacity = await this._api.capacity(engine, namespace);
      const lines = quotaLines(capacity, namespace);
      if (this._location().namespace === namespace) {
        this._asked = { ...asked, lines };
        this._changed.emit();
      }
    } catch (error) {
      expectApiError(error); // the namespace's field shows the error
    }
  }

  /** Notify listeners if the jobs model has a new capacity. */
  private _onJobs(): void {
    const { known } = this;
    if (known !== this._seen) {
      this._seen = known;
      this._changed.emit();
    }
  }

  private _seen: Capacity | null = null;
  private _asked: IAsked | null = null;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
}

/**
 * Return the form with accelerators of another kind. The node label that selects their product changes as well.
 *
 * @param resource - Resource name of the accelerators, such as `nvidia.com/gpu`.
 * @param pool - The requested pool; null for all pools of the resource.
 * @param pools - Pools whose product labels the form may contain. These labels are removed.
 */
export function withDeviceKind(
  form: ILaunchForm,
  resource: string,
  pool: Pool | null,
  pools: readonly Pool[]
): ILaunchForm {
  const [first, ...rest] = form.spec.replica_specs;
  const { resources } = first;
  const device = { count: 0, ...resources.device, name: resource };
  const labels = pools.map(({ product_label }) => product_label);
  const others = form.nodeSelector.filter(({ name }) => !labels.includes(name));
  const { product_label: name, product: value } = pool ?? {};
  return {
    ...form,
    nodeSelector: name && value ? [...others, { name, value }] : others,
    spec: {
      ...form.spec,
      replica_specs: [
        { ...first, resources: { ...resources, device } },
        ...rest
      ]
    }
  };
}
