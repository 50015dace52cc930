/** Segmented control: a few choices side by side. */

import * as React from 'react';

interface ISegment<Value> {
  value: Value;
  label: string;
  /** Why the choice is disabled, shown as its tooltip; null or undefined if it is enabled. */
  disabled?: string | null;
}

/** Properties of a segmented control. */
export interface ISegmentsProps<Value> {
  segments: readonly ISegment<Value>[];
  value: Value;
  onChange(value: Value): void;
  'aria-label'?: string;
  'aria-labelledby'?: string;
  'aria-describedby'?: string;
  'data-field'?: string;
  /** True if the user can't change the choice. The group stays in the tab order. */
  readOnly?: boolean;
}

/** A radio group drawn as adjacent buttons. It is one tab stop, and arrow keys select the next enabled choice. */
export function Segments<Value extends string>({
  segments,
  value,
  onChange,
  readOnly = false,
  ...props
}: ISegmentsProps<Value>): React.JSX.Element {
  const group = React.useRef<HTMLDivElement>(null);
  const onKeyDown = (event: React.KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[
      event.key
    ];
    const usable = segments.filter(segment => !segment.disabled);
    if (!by || !usable.length || readOnly) {
      return;
    }
    event.preventDefault();
    const index = usable.findIndex(segment => segment.value === value);
    const next = usable[(index + by + usable.length) % usable.length];
    onChange(next.value);
    const buttons =
      group.current?.querySelectorAll<HTMLElement>('[role="radio"]');
    buttons?.[segments.indexOf(next)].focus();
  };
  return (
    <div
      ref={group}
      role="radiogroup"
      className="jp-t9k-Segments"
      aria-readonly={readOnly || undefined}
      onKeyDown={onKeyDown}
      {...props}
    >
      {segments.map(segment => (
        <button
          key={segment.value}
          type="button"
          role="radio"
          aria-checked={segment.value === value}
          aria-disabled={segment.disabled ? true : undefined}
          title={segment.disabled ?? segment.label}
          tabIndex={segment.value === value ? 0 : -1}
          onClick={() => {
            if (!segment.disabled && !readOnly) {
              onChange(segment.value);
            }
          }}
        >
          {segment.label}
        </button>
      ))}
    </div>
  );
}
