/** Segmented control: a few choices side by side. */

import * as React from 'react';

interface ISegment<Value> {
  value: Value;
  label: string;
  /** Why the choice is disabled, shown as its tooltip; null or undefined if it is enabled. */
  disabled?: string | null;
}

interface ISegmentsProps<Value> {
  segments: readonly ISegment<Value>[];
  value: Value;
  onChange(value: Value): void;
  'aria-label'?: string;
  'aria-labelledby'?: string;
  'aria-describedby'?: string;
  'data-field'?: string;
}

/** A radio group drawn as adjacent buttons. It is one tab stop, and arrow keys select the next enabled choice. */
export function Segments<Value extends string>({
  segments,
  value,
  onChange,
  ...props
}: ISegmentsProps<Value>): React.JSX.Element {
  const group = React.useRef<HTMLDivElement>(null);
  const onKeyDown = (event: React.KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[
      event.key
    ];
    const usable = segments.filter(segment => !segment.disabled);
    if (!by || !usable.length) {
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
            if (!segment.disabled) {
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
