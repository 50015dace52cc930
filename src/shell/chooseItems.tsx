/** Dialog in which the user selects several items of a list. */
import { Dialog } from '@jupyterlab/apputils';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';
import { namedDialog } from './dialog';
import '../../style/choices.css';

/** An item of the list. */
export interface IChoice {
  id: string;
  content: React.ReactNode;
}

interface IChooseOptions {
  title: string;
  /** Sentence above the list, which says that several items can be selected. */
  label: string;
  /** Label of the button that confirms the selection. */
  okLabel: string;
  items: readonly IChoice[];
}

/**
 * Let the user select items of a list.
 *
 * @returns Ids of the selected items in the order of the list; null if the user cancels.
 */
export async function chooseItems(
  options: IChooseOptions
): Promise<string[] | null> {
  const { title, okLabel } = options;
  const dialog = namedDialog<string[]>({
    title,
    body: new Body(options),
    buttons: [Dialog.cancelButton(), Dialog.okButton({ label: okLabel })],
    focusNodeSelector: 'input'
  });
  const { button, value } = await dialog.launch();
  return button.accept ? (value ?? []) : null;
}

/** Body of the dialog. */
class Body extends ReactWidget implements Dialog.IBodyWidget<string[]> {
  constructor(private readonly _options: IChooseOptions) {
    super();
  }

  /** Return the ids of the selected items. */
  getValue(): string[] {
    return this._options.items
      .map(({ id }) => id)
      .filter(id => this._selected.has(id));
  }

  protected override render(): React.JSX.Element {
    const { label, items } = this._options;
    return (
      <Choices
        label={label}
        items={items}
        select={(id, isSelected) =>
          isSelected ? this._selected.add(id) : this._selected.delete(id)
        }
      />
    );
  }

  private readonly _selected = new Set<string>();
}

interface IChoicesProps {
  label: string;
  items: readonly IChoice[];
  select(id: string, isSelected: boolean): void;
}

/** List of checkboxes. It is one tab stop; arrow keys, Home and End move the focus. */
function Choices({ label, items, select }: IChoicesProps): React.JSX.Element {
  const [current, setCurrent] = React.useState(0);
  const onKeyDown = (event: React.KeyboardEvent<HTMLElement>): void => {
    const last = items.length - 1;
    const to: Record<string, number> = {
      ArrowUp: Math.max(0, current - 1),
      ArrowDown: Math.min(last, current + 1),
      Home: 0,
      End: last
    };
    if (event.key in to) {
      event.currentTarget.querySelectorAll('input')[to[event.key]].focus();
      event.preventDefault();
    }
  };
  return (
    <fieldset className="jp-t9k-View jp-t9k-Choices" onKeyDown={onKeyDown}>
      <legend>{label}</legend>
      <div className="jp-t9k-Choices-list">
        {items.map(({ id, content }, index) => (
          <label key={id}>
            <input
              type="checkbox"
              tabIndex={index === current ? 0 : -1}
              onFocus={() => setCurrent(index)}
              onChange={({ target }) => select(id, target.checked)}
            />
            <span>{content}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
