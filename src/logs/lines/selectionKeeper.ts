/** Synchronization of the browser's selection and the log's selection. */
import * as React from 'react';
import { ILogPlace, LogSelection, LogStep } from '../model/selection';
import { LogModel } from '../model/log';
import { LogScroller } from './scroller';
import { placeOf, placeUnder, samePlace, showSelection } from './selection';

/** Scroll speed during a drag beyond the log's edge: px per frame for each px of distance. */
const PULL = 0.5;

/** Position of the pointer during a drag. */
interface IDrag {
  x: number;
  y: number;
}

/**
 * Synchronizes the browser's selection with the log's selection in both directions: the user selects text of
 * the rows in the document, and rows that enter the document show the log's selection.
 */
export class SelectionKeeper {
  constructor(
    private readonly _log: LogModel,
    private readonly _selection: LogSelection,
    private readonly _scroller: LogScroller
  ) {}

  /** Start to listen to the browser. Returns a function that stops it. */
  readonly attach = (): (() => void) => {
    document.addEventListener('selectionchange', this.sync);
    document.addEventListener('pointermove', this._onPointerMove);
    document.addEventListener('pointerup', this._onPointerUp);
    document.addEventListener('pointercancel', this._onPointerUp);
    this._selection.changed.connect(this._scroller.update);
    return () => {
      cancelAnimationFrame(this._frame);
      document.removeEventListener('selectionchange', this.sync);
      document.removeEventListener('pointermove', this._onPointerMove);
      document.removeEventListener('pointerup', this._onPointerUp);
      document.removeEventListener('pointercancel', this._onPointerUp);
      this._selection.changed.disconnect(this._scroller.update);
    };
  };

  /** Handle a pointer button that is pressed in the log. */
  readonly onPointerDown = (event: React.PointerEvent): void => {
    const { box } = this._scroller;
    const target = event.target as Element;
    const onBar =
      box !== null &&
      event.clientX > box.getBoundingClientRect().left + box.clientWidth;
    if (event.button !== 0 || onBar || target.closest('button')) {
      return;
    }
    this._extends = event.shiftKey && this._selection.anchor !== null;
    if (!this._extends && !this._selection.isEmpty) {
      // On selected text, browsers would begin to drag the text instead of a new selection.
      this._selection.clear();
      document.getSelection()?.removeAllRanges();
    }
    this._drag = { x: event.clientX, y: event.clientY };
  };

  /**
   * Set the browser's selection to the log's selection after a render.
   *
   * @param start - Ordinal of the first row in the document.
   * @param stop - Ordinal after the last row in the document.
   */
  readonly restore = (start: number, stop: number): void => {
    const { block } = this._scroller;
    const native = document.getSelection();
    const active = document.activeElement;
    const typing =
      active instanceof HTMLInputElement ||
      active instanceof HTMLTextAreaElement;
    if (!block || !native || typing || start >= stop) {
      return;
    }
    if (this._scrolled && this._drag) {
      this._scrolled = false;
      this._dragTo(this._drag);
    }
    const { anchor, focus, isEmpty } = this._selection;
    if (anchor === null || focus === null || isEmpty) {
      this._shown = null;
      return;
    }
    const shown = {
      anchor: this._selection.within(anchor, start, stop),
      focus: this._selection.within(focus, start, stop)
    };
    this._shown = shown;
    if (samePlace(shown.anchor, shown.focus)) {
      if (!native.isCollapsed && block.contains(native.anchorNode)) {
        native.removeAllRanges(); // The selected rows are not in the document.
      }
      return;
    }
    const { anchorNode, anchorOffset, focusNode, focusOffset } = native;
    if (
      !samePlace(placeOf(block, anchorNode, anchorOffset), shown.anchor) ||
      !samePlace(placeOf(block, focusNode, focusOffset), shown.focus)
    ) {
      showSelection(block, shown.anchor, shown.focus);
    }
  };

  /** Handle a scroll. During a drag, the pointer is over another line then. */
  readonly onScrolled = (): void => {
    this._scrolled = this._drag !== null && this._selection.anchor !== null;
    this._moved ||= this._scrolled;
  };

  /** Set the log's selection to the browser's selection. */
  readonly sync = (): void => {
    const { block } = this._scroller;
    const native = document.getSelection();
    if (!block || !native?.anchorNode) {
      return;
    }
    const { anchorNode, anchorOffset, focusNode, focusOffset } = native;
    if (!block.contains(anchorNode) && !block.contains(focusNode)) {
      if (!this._drag) {
        this._selection.clear();
      }
      return;
    }
    const anchor = placeOf(block, anchorNode, anchorOffset);
    const focus = placeOf(block, focusNode, focusOffset);
    if (
      !focus ||
      (samePlace(anchor, this._shown?.anchor ?? null) &&
        samePlace(focus, this._shown?.focus ?? null))
    ) {
      return;
    }
    // During a drag the anchor stays, even if the browser moves it because its row left the document.
    const isKept =
      this._extends ||
      this._moved ||
      !anchor ||
      samePlace(anchor, this._shown?.anchor ?? null);
    const from = isKept ? this._selection.anchor : null;
    this._take(from ?? (anchor && this._selection.pointAt(anchor)), focus);
  };

  private readonly _onPointerMove = (event: PointerEvent): void => {
    const { _drag: drag } = this;
    if (!drag) {
      return;
    }
    drag.x = event.clientX;
    drag.y = event.clientY;
    if (!this._selection.isEmpty && !this._moved) {
      this._moved = true;
      this._log.setFollowing(false); // New lines must not move the text under the pointer.
    }
    if (this._moved && !this._frame && this._pull() !== 0) {
      this._frame = requestAnimationFrame(this._scrollOn);
    }
  };

  private readonly _onPointerUp = (): void => {
    this._drag = null;
    this._moved = this._extends = false;
    cancelAnimationFrame(this._frame);
    this._frame = 0;
  };

  /** Return the distance of the pointer from the log's edge in px; negative above the log, 0 inside it. */
  private _pull(): number {
    const { box } = this._scroller;
    if (!this._drag || !box) {
      return 0;
    }
    const { top } = box.getBoundingClientRect();
    const bottom = top + box.clientHeight;
    const { y } = this._drag;
    return y < top ? y - top : y > bottom ? y - bottom : 0;
  }

  /**
   * Scroll one step during a drag beyond the log's edge. Browsers stop doing so when the row of the anchor
   * leaves the document.
   */
  private readonly _scrollOn = (): void => {
    this._frame = 0;
    const pull = this._pull();
    const { box } = this._scroller;
    if (pull !== 0 && box) {
      box.scrollTop += Math.round(pull * PULL) || Math.sign(pull);
      this._frame = requestAnimationFrame(this._scrollOn);
    }
  };

  /** Move the focus to the text under the pointer. */
  private _dragTo({ x, y }: IDrag): void {
    const { box, block } = this._scroller;
    const anchor = this._selection.anchor;
    if (!box || !block || anchor === null) {
      return;
    }
    const { left, top } = box.getBoundingClientRect();
    const focus = placeUnder(
      block,
      Math.min(Math.max(x, left + 1), left + box.clientWidth - 2),
      Math.min(Math.max(y, top + 1), top + box.clientHeight - 2)
    );
    if (focus) {
      this._take(anchor, focus);
    }
  }

  private _take(anchor: LogSelection['anchor'], focusPlace: ILogPlace): void {
    const focus = this._selection.pointAt(focusPlace);
    if (anchor !== null && focus) {
      this._selection.set(anchor, focus);
    }
  }

  /** The part of the log's selection that the browser was told to select. */
  private _shown: { anchor: ILogPlace; focus: ILogPlace } | null = null;
  private _drag: IDrag | null = null;
  /** True if the current drag has selected text or scrolled the log. */
  private _moved = false;
  /** True if the log was scrolled during the drag and the focus wasn't updated yet. */
  private _scrolled = false;
  /** True if Shift was held at the start of the drag, so that only the focus moves. */
  private _extends = false;
  private _frame = 0;
}

/** Steps of the keys that move the focus while Shift is held. */
const STEPS: Record<string, LogStep> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
  PageUp: 'pageUp',
  PageDown: 'pageDown',
  Home: 'lineStart',
  End: 'lineEnd'
};

/**
 * Extend or clear the selection with the keyboard.
 *
 * @param event - The key event.
 * @param log - The log.
 * @param selection - The log's selection.
 * @param scroller - Scrolls to the focus.
 * @returns True if the key was handled.
 */
export function onSelectionKey(
  event: React.KeyboardEvent,
  log: LogModel,
  selection: LogSelection,
  scroller: LogScroller
): boolean {
  const command = event.ctrlKey || event.metaKey;
  if (event.key === 'Escape' && !selection.isEmpty) {
    selection.clear();
    document.getSelection()?.removeAllRanges();
    return true;
  }
  const step = STEPS[event.key];
  if (!event.shiftKey || event.altKey || !step) {
    return false;
  }
  const isEdge = command && (step === 'lineStart' || step === 'lineEnd');
  if (command && !isEdge) {
    return false;
  }
  const { first, last } = log.view ?? { first: 0, last: 0 };
  const from = { ordinal: first, column: 0 };
  const edge = step === 'lineStart' ? 'start' : 'end';
  selection.move(isEdge ? edge : step, from, Math.max(1, last - first - 1));
  if (isEdge) {
    log.go({ at: edge });
  } else if (selection.focus !== null) {
    scroller.reveal(selection.ordinalOf(selection.focus));
  }
  return true;
}
