/** Lines of a unified diff, or of a text. */
import * as React from 'react';

const KINDS: Record<string, string> = {
  '+': 'added',
  '-': 'removed',
  '@': 'position'
};

/** Properties of a diff. */
interface IDiffLinesProps {
  /** Unified diff of one file. */
  diff: string;
  label: string;
}

/** Unified diff with colored lines. Added and removed lines keep their signs, so that color is not the only mark. */
export function DiffLines({ diff, label }: IDiffLinesProps): React.JSX.Element {
  const lines = diff.replace(/\n$/, '').split('\n').slice(2);
  return (
    <pre className="jp-t9k-Diff" tabIndex={0} role="group" aria-label={label}>
      {lines.map((line, index) => (
        <code key={index} data-kind={KINDS[line[0]]}>
          {line || ' '}
          {'\n'}
        </code>
      ))}
    </pre>
  );
}
