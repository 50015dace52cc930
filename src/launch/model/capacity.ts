/** What of the form's cluster is free now, and how much of it its namespace may have. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { ApiClient, expectApiError } from '../../api/client';
import { Capacity, Pool, QuotaLine } from '../../api/types';
import { IJobsModel } from '../../tokens';
import { knowsNodes, poolsFor, quotaLines } from '../../cluster/model/capacity';
import { ILaunchForm } from './form';
import { IPlace } from '../../cluster/model/places';

/** How long the limits of a namespace count that is not watched, in ms. */
const FRESH = 10_000;

/** Limits that were asked for. */
interface IAsked {
  namespace: string;
  lines: QuotaLine[] | null;
  /** When that was, in ms. */
  at: number;
}

/** Capacity beside the fields of a form, followed while they are shown. */
export class LaunchCapacity implements IDisposable {
  /**
   * @param _place - Returns where the form's job will run.
   * @param _isInCluster - Returns whether that is a cluster.
   */
  constructor(
    private readonly _api: ApiClient,
    private readonly _jobs: Pick<
      IJobsModel,
      'capacity' | 'watchCapacity' | 'changed'
    > | null,
    private readonly _place: () => IPlace,
    private readonly _isInCluster: () => boolean
  ) {
    _jobs?.changed.connect(this._onJobs, this);
  }

  /** Capacity of the cluster; null while it is not known, and for a job that does not run in a cluster. */
  get known(): Capacity | null {
    return this._isInCluster() ? (this._jobs?.capacity ?? null) : null;
  }

  /** The limits of the form's namespace; null while they are not known. */
  get limits(): QuotaLine[] | null {
    const { known } = this;
    const { namespace } = this._place();
    const watched = known && quotaLines(known, namespace);
    const asked =
      this._asked?.namespace === namespace ? this._asked.lines : null;
    return watched ?? asked;
  }

  /** Pools that a job with these devices and labels could be placed in. */
  chosen(
    device: { name: string; count: number } | null,
    labels: Readonly<Record<string, string>>
  ): Pool[] {
    const pools = this.known?.pools ?? [];
    return device?.count ? poolsFor(pools, device.name, labels) : [];
  }

  /** The most of CPU or memory that is free on one node that has the devices; null if that is not known. */
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
      place => place[resource] ?? []
    );
    return most.length ? Math.max(...most) : null;
  }

  /** It, or what is free, changed. */
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

  /** Follow it until that is disposed. */
  watch(): IDisposable | null {
    return this._jobs?.watchCapacity() ?? null;
  }

  /** Ask for the limits of a namespace that is not watched for jobs. */
  async askLimits(): Promise<void> {
    const { engine, namespace } = this._place();
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
      if (this._place().namespace === namespace) {
        this._asked = { ...asked, lines };
        this._changed.emit();
      }
    } catch (error) {
      expectApiError(error); // the field of the namespace says what is wrong with it
    }
  }

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
 * Ask for accelerators of another kind; the label by which products are told apart goes along.
 *
 * @param pool - What is asked for; null for all of the resource.
 * @param pools - What could have been asked for before.
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
