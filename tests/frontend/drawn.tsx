/** Tells which parts of a form are drawn, for tests of how much a change draws. */
import * as React from 'react';

/** The parts that were drawn since this was cleared last. */
export const drawn = new Set<string>();

/** The same component, whose name is noted whenever it, or something in it, is drawn. */
export function noted<Props extends object>(
  Part: React.ComponentType<Props>,
  nameOf: (props: Props) => string
): React.FunctionComponent<Props> {
  const Noted = (props: Props): React.JSX.Element => (
    <React.Profiler id={nameOf(props)} onRender={name => drawn.add(name)}>
      <Part {...props} />
    </React.Profiler>
  );
  return Noted;
}
