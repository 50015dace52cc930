/** Button of a table's toolbar with a pane that chooses the columns. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { LinkButton } from '../Buttons';

interface IColumnsProps {
  /** Return the list of the columns that a search finds. */
  list(search: string): React.ReactNode;
  /** Show the columns that the table shows before the user chooses. */
  onDefault(): void;
  trans: TranslationBundle;
}

/** Button that opens and closes the pane. */
export function ColumnsButton(props: IColumnsProps): React.JSX.Element {
  const [isOpen, setOpen] = React.useState(false);
  const button = React.useRef<HTMLButtonElement>(null);
  const close = React.useCallback((): void => {
    setOpen(false);
    button.current?.focus();
  }, []);
  return (
    <span className="jp-t9k-Runs-columns">
      <button
        ref={button}
        type="button"
        className="jp-t9k-Button"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onPointerDown={event => event.preventDefault()}
        onClick={() => (isOpen ? close() : setOpen(true))}
      >
        {props.trans.__('Columns')}
      </button>
      {isOpen && <ColumnsPane {...props} onClose={close} />}
    </span>
  );
}

/** The pane: a search field above the list of columns. */
function ColumnsPane({
  list,
  onDefault,
  onClose,
  trans
}: IColumnsProps & { onClose(): void }): React.JSX.Element {
  const [search, setSearch] = React.useState('');
  const pane = React.useRef<HTMLDivElement>(null);
  // A press on something that takes no focus, such as a row's text, closes the pane, too.
  React.useEffect(() => {
    const onPress = ({ target }: PointerEvent): void => {
      const around = pane.current?.parentElement;
      const isOutside =
        target instanceof Element &&
        !around?.contains(target) &&
        !isMenu(target);
      if (isOutside) {
        onClose();
      }
    };
    document.addEventListener('pointerdown', onPress, true);
    return () => document.removeEventListener('pointerdown', onPress, true);
  }, [onClose]);
  return (
    <div
      ref={pane}
      role="dialog"
      aria-label={trans.__('Columns')}
      className="jp-t9k-Runs-pane"
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          onClose();
        }
      }}
      onBlur={event => {
        const to = event.relatedTarget;
        if (to && !event.currentTarget.contains(to) && !isMenu(to)) {
          onClose();
        }
      }}
    >
      <input
        type="search"
        autoFocus
        aria-label={trans.__('Find a column')}
        placeholder={trans.__('Find a column')}
        value={search}
        onChange={event => setSearch(event.target.value)}
      />
      <div className="jp-t9k-Runs-paneList">{list(search.toLowerCase())}</div>
      <LinkButton onClick={onDefault}>
        {trans.__('Back to the default')}
      </LinkButton>
    </div>
  );
}

/** Return true if an element is in a menu, which a button of the list may have opened. */
function isMenu(element: Element): boolean {
  return element.closest('.lm-Menu') !== null;
}
