/** Filter of ranks. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { ILogSource } from '../loading/streams';

/** Maximum number of ranks with a button for each. More ranks get a text field. */
const MOST_BUTTONS = 16;

/** Props of `RankFilter`. */
interface IRankFilterProps {
  sources: readonly ILogSource[];
  /** Keys of the hidden sources. */
  hidden: readonly string[];
  setHidden(hidden: string[]): void;
  trans: TranslationBundle;
}

/** Shows buttons or a text field that select the shown ranks. Renders nothing for a single rank. */
export function RankFilter(props: IRankFilterProps): React.JSX.Element | null {
  const { sources, hidden, setHidden, trans } = props;
  if (sources.length < 2) {
    return null;
  }
  const label = trans.__('Rank');
  if (sources.length > MOST_BUTTONS) {
    return <RankField {...props} />;
  }
  return (
    <div className="jp-t9k-RankFilter" role="group" aria-label={label}>
      <span className="jp-t9k-RankFilter-label">{label}</span>
      {sources.map(({ key, label, series, replica }) => (
        <button
          key={key}
          type="button"
          aria-pressed={!hidden.includes(key)}
          aria-label={trans.__('Rank %1', label)}
          title={trans.__(
            'Rank %1, on %2. Alt+click: only this one',
            label,
            replica
          )}
          onClick={event => {
            const others = sources
              .map(source => source.key)
              .filter(other => other !== key);
            if (event.altKey) {
              setHidden(others);
            } else if (hidden.includes(key)) {
              setHidden(hidden.filter(other => other !== key));
            } else {
              setHidden([...hidden, key]);
            }
          }}
        >
          <span data-series={series % 4} aria-hidden />
          {label}
        </button>
      ))}
    </div>
  );
}

/** Text field for the shown ranks. */
function RankField({
  sources,
  hidden,
  setHidden,
  trans
}: IRankFilterProps): React.JSX.Element {
  const [text, setText] = React.useState(() =>
    hidden.length
      ? sources
          .filter(source => !hidden.includes(source.key))
          .map(source => source.label)
          .join(', ')
      : ''
  );
  const apply = (): void => {
    const shown = rankPredicate(text);
    setHidden(
      sources.filter(source => !shown(source.label)).map(source => source.key)
    );
  };
  return (
    <input
      type="text"
      className="jp-t9k-RankFilter-field"
      aria-label={trans.__('Ranks')}
      title={trans.__('Ranks to show, such as 0-3, 8')}
      placeholder={trans._n('%1 rank', 'All %1 ranks', sources.length)}
      value={text}
      onChange={event => setText(event.target.value)}
      onBlur={apply}
      onKeyDown={event => {
        if (event.key === 'Enter') {
          apply();
        }
      }}
    />
  );
}

/**
 * Return a predicate for a list of ranks and ranges, such as “0-3, 8”. Other parts of the list are labels. An
 * empty list means all ranks.
 */
export function rankPredicate(text: string): (label: string) => boolean {
  const parts = text
    .split(',')
    .map(part => part.trim())
    .filter(Boolean);
  if (parts.length === 0) {
    return () => true;
  }
  return label =>
    parts.some(part => {
      const range = /^(\d+)\s*[-–]\s*(\d+)$/.exec(part);
      return range
        ? Number(label) >= Number(range[1]) && Number(label) <= Number(range[2])
        : part === label;
    });
}
