/** Selected rows of a table. */

/** Ids of selected rows. Methods return a new selection. */
export class Selection {
  constructor(
    readonly ids: ReadonlySet<string> = new Set(),
    /** The row that was selected last; a range begins there. */
    readonly anchor: string | null = null
  ) {}

  /** Select a row, or no longer select it. */
  toggle(id: string): Selection {
    const ids = new Set(this.ids);
    if (!ids.delete(id)) {
      ids.add(id);
    }
    return new Selection(ids, id);
  }

  /**
   * Select all rows between the last selected one and another one.
   *
   * @param order - Ids of the shown rows in their order.
   */
  extend(id: string, order: readonly string[]): Selection {
    const from = this.anchor === null ? -1 : order.indexOf(this.anchor);
    const to = order.indexOf(id);
    if (from < 0 || to < 0) {
      return this.toggle(id);
    }
    const range = order.slice(Math.min(from, to), Math.max(from, to) + 1);
    return new Selection(new Set([...this.ids, ...range]), this.anchor);
  }

  /** Select some rows, or no longer select them. */
  set(ids: readonly string[], isSelected: boolean): Selection {
    const next = new Set(this.ids);
    ids.forEach(id => (isSelected ? next.add(id) : next.delete(id)));
    return new Selection(next, this.anchor);
  }
}
