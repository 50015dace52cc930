/** Field of the filter expression, with completion of names. */
import { closeIcon, filterIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { formatCount } from '../../../common/format';
import { IconButton, LinkButton } from '../../../ui/Buttons';
import { Icon } from '../../../ui/Icon';
import { errorIcon } from '../../../ui/icons';
import { ExperimentsModel } from '../../model/experiments';
import { complete, ICompletion, writeName } from '../../model/filter/complete';
import { FilterProblem } from '../../model/filter/parse';
import { formatScalar, problemText, runsText } from '../text';

interface IFilterFieldProps {
  model: ExperimentsModel;
  trans: TranslationBundle;
}

/** Reads an expression while it is typed. After an error the rows stay as they were. */
export function FilterField({
  model,
  trans
}: IFilterFieldProps): React.JSX.Element {
  const { filter: text } = model.view;
  const { problem } = model;
  const prefix = React.useId();
  const input = React.useRef<HTMLInputElement>(null);
  const list = useCompletion(model, input);
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (list.onKeyDown(event)) {
      event.preventDefault();
      event.stopPropagation();
    } else if (event.key === 'Escape' && text) {
      event.stopPropagation();
      model.change({ filter: '' });
    }
  };
  return (
    <div
      className="jp-t9k-Runs-filter"
      data-invalid={problem !== null || undefined}
    >
      <Icon of={filterIcon} size={16} />
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label={trans.__('Filter the runs')}
        aria-expanded={list.proposals.length > 0}
        aria-controls={`${prefix}list`}
        aria-activedescendant={
          list.active >= 0 ? `${prefix}${list.active}` : undefined
        }
        aria-autocomplete="list"
        aria-invalid={problem !== null}
        aria-describedby={`${prefix}problem`}
        autoComplete="off"
        spellCheck={false}
        placeholder={trans.__('Filter: lr < 0.01 and val.accuracy > 0.97')}
        value={text}
        onChange={event => {
          model.change({ filter: event.target.value });
          list.update(event.target);
        }}
        onKeyDown={onKeyDown}
        onBlur={list.close}
      />
      <span className="jp-t9k-caption" role="status">
        {countText(model, trans)}
      </span>
      {text && (
        <IconButton
          icon={closeIcon}
          label={trans.__('Clear the filter')}
          onClick={() => {
            model.change({ filter: '' });
            input.current?.focus();
          }}
        />
      )}
      {list.proposals.length > 0 && (
        <ul role="listbox" id={`${prefix}list`} aria-label={trans.__('Names')}>
          {list.proposals.map(({ name, range }, index) => (
            <li
              key={name}
              id={`${prefix}${index}`}
              role="option"
              aria-selected={index === list.active}
              onPointerDown={event => {
                event.preventDefault(); // the field keeps the focus
                list.choose(index);
              }}
            >
              <code>{name}</code>
              <span>
                {range &&
                  `${formatScalar(range[0])} – ${formatScalar(range[1])}`}
              </span>
            </li>
          ))}
        </ul>
      )}
      <div id={`${prefix}problem`} className="jp-t9k-Runs-problem">
        {problem && (
          <Problem
            problem={problem}
            fix={name => {
              model.change({ filter: replaced(text, problem.place, name) });
              input.current?.focus();
            }}
            trans={trans}
          />
        )}
      </div>
    </div>
  );
}

function Problem({
  problem,
  fix,
  trans
}: {
  problem: FilterProblem;
  fix(name: string): void;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { suggestion } = problem;
  return (
    <>
      <Icon of={errorIcon} size={16} />
      <span>{problemText(problem, trans)}</span>
      {suggestion !== null && (
        <LinkButton onClick={() => fix(suggestion)}>
          {trans.__('Use %1', suggestion)}
        </LinkButton>
      )}
    </>
  );
}

function countText(model: ExperimentsModel, trans: TranslationBundle): string {
  const { view, problem, runs, known } = model;
  if (view.filter === '') {
    return runsText(known.length, trans);
  }
  return problem
    ? trans.__('not filtered')
    : trans.__(
        '%1 of %2',
        formatCount(runs.length),
        runsText(known.length, trans)
      );
}

function replaced(
  text: string,
  { start, end }: { start: number; end: number },
  name: string
): string {
  return text.slice(0, start) + writeName(name) + text.slice(end);
}

interface ICompletionList {
  proposals: ICompletion['proposals'];
  /** Index of the marked proposal; -1 if none is marked. */
  active: number;
  update(input: HTMLInputElement): void;
  choose(index: number): void;
  close(): void;
  /** Handle a key. Return true if the key belongs to the list. */
  onKeyDown(event: React.KeyboardEvent): boolean;
}

function useCompletion(
  model: ExperimentsModel,
  input: React.RefObject<HTMLInputElement>
): ICompletionList {
  const [state, setState] = React.useState<ICompletion | null>(null);
  const [active, setActive] = React.useState(-1);
  const cursor = React.useRef<number | null>(null);
  React.useLayoutEffect(() => {
    if (cursor.current !== null) {
      input.current?.setSelectionRange(cursor.current, cursor.current);
      cursor.current = null;
    }
  });
  const proposals = state?.proposals ?? [];
  const close = (): void => {
    setState(null);
    setActive(-1);
  };
  const choose = (index: number): void => {
    if (state) {
      const { name } = state.proposals[index];
      const { filter } = model.view;
      cursor.current = state.start + writeName(name).length;
      model.change({ filter: replaced(filter, state, name) });
      close();
    }
  };
  const move = (by: number): void => {
    const { length } = proposals;
    setActive((active + by + length + (active < 0 && by < 0 ? 1 : 0)) % length);
  };
  const keys: Record<string, () => void> = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Escape: close
  };
  if (active >= 0) {
    keys.Enter = keys.Tab = () => choose(active);
  }
  return {
    proposals,
    active,
    update: element => {
      const at = element.selectionStart ?? element.value.length;
      setState(complete(element.value, at, model.fields, model.known));
      setActive(-1);
    },
    choose,
    close,
    onKeyDown: event => {
      if (proposals.length === 0 || !Object.hasOwn(keys, event.key)) {
        return false;
      }
      keys[event.key]();
      return true;
    }
  };
}
