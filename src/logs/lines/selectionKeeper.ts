import * as React from 'react';
import { ILogPlace, LogSelection, LogStep } from '../model/selection';
import { LogModel } from '../model/log';
import { LogScroller } from './scroller';
import { placeOf, placeUnder, samePlace, showSelection } from './selection';

/** Px that the log scrolls in a frame while something is dragged past its edge, for each px beyond it. */
const PULL = 0.5;

interface IDrag {
  x: number;
  y: number;
}

/**
 * Keeps the page's selection and the log's the same: the browser selects among the rows that exist, and the
 * rows that come into the document are selected as the log's selection says.
 */
export class SelectionKeeper {
  constructor(
    private readonly _log: LogModel,
    private readonly _selection: LogSelection,
    private readonly _scroller: LogScroller
  ) {}

  /** Begin to listen; returns what ends it. */
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

  /** A button of the pointer went down in the log. */
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
      // Browsers would drag the selected text away instead of beginning another selection.
      this._selection.clear();
      document.getSelection()?.removeAllRanges();
    }
    this._drag = { x: event.clientX, y: event.clientY };
  };

  /** After the rows were drawn: select of them what is selected of the log. */
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
        native.removeAllRanges(); // all of it is out of view
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

  /** The log was scrolled while something is dragged: the pointer is over another line. */
  readonly onScrolled = (): void => {
    this._scrolled = this._drag !== null && this._selection.anchor !== null;
    this._moved ||= this._scrolled;
  };

  /** Take over what the page selects. */
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
    // A drag that goes on keeps its anchor, whatever the browser does when the row of it is gone.
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
      this._log.setFollowing(false); // the lines stay below the pointer
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

  /** How far the pointer is beyond the log's edge, in px; negative above it. */
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

  /** Browsers stop scrolling of their own once the row that was pressed is out of the document. */
  private readonly _scrollOn = (): void => {
    this._frame = 0;
    const pull = this._pull();
    const { box } = this._scroller;
    if (pull !== 0 && box) {
      box.scrollTop += Math.round(pull * PULL) || Math.sign(pull);
      this._frame = requestAnimationFrame(this._scrollOn);
    }
  };

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

  /** The selection that the page was last told to show. */
  private _shown: { anchor: ILogPlace; focus: ILogPlace } | null = null;
  private _drag: IDrag | null = null;
  private _moved = false;
  private _scrolled = false;
  /** The pointer went down with Shift held: only the focus moves. */
  private _extends = false;
  private _frame = 0;
}

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
 * @returns True if the key does so.
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
