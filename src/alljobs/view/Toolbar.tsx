/** Toolbar of the table of jobs: filter, states, owners, places, period, group, columns. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { JobState } from '../../api/aliases';
import { formatCount } from '../../common/format';
import { IMenuItem } from '../../common/menu';
import { labelOf } from '../../jobs/engines';
import { stateWord } from '../../jobs/phase';
import { ColumnsButton } from '../../ui/table/ColumnsButton';
import { FilterField } from '../../ui/filter/FilterField';
import { problemText } from '../../ui/filter/filterProblem';
import { MenuButton, MoreButton } from '../../ui/MenuButton';
import { isExpression } from '../model/fields';
import { JobTableModel } from '../model/table';
import { GroupKey, Since } from '../model/view';
import { ColumnList } from './ColumnList';
import { groupText, jobsText, sinceText } from './text';

/** Properties of the toolbar. */
export interface IToolbarProps {
  model: JobTableModel;
  /** Entries of the menu of further actions. */
  moreItems(): (IMenuItem | null)[];
  trans: TranslationBundle;
}

const STATES: readonly JobState[] = [
  'running',
  'pending',
  'paused',
  'resuming',
  'succeeded',
  'failed',
  'stopped',
  'unknown'
];
const SINCE: readonly Since[] = ['', 'today', 'week', 'month'];
const GROUPS: readonly GroupKey[] = ['', 'day', 'sweep', 'owner'];

/** The fields and menus above the table. */
export function Toolbar(props: IToolbarProps): React.JSX.Element {
  const { model, trans } = props;
  const { view, owners, engines } = model;
  const { problem } = model;
  const isText = !isExpression(view.filter);
  return (
    <div className="jp-t9k-Runs-toolbar">
      <FilterField
        label={trans.__('Filter the jobs')}
        placeholder={trans.__('Filter: words, or gpus >= 8 and state = failed')}
        text={view.filter}
        onChange={filter => model.change({ filter })}
        problem={problem}
        problemText={
          problem
            ? problemText(
                problem,
                trans.__('No job has “%1”.', problem.word),
                trans
              )
            : ''
        }
        count={countText(model, trans)}
        fields={model.fields}
        rows={isText ? [] : model.known}
        format={value => String(Number(value.toPrecision(4)))}
        trans={trans}
      />
      <MenuButton
        label={trans.__('State')}
        items={() => [
          allItem(trans.__('Every state'), view.states.length === 0, () =>
            model.change({ states: [] })
          ),
          ...STATES.map(state => ({
            label: stateWord(state, trans),
            toggled: view.states.includes(state),
            execute: () => model.change({ states: toggled(view.states, state) })
          }))
        ]}
      >
        <span>
          {view.states.length === 0
            ? trans.__('Every state')
            : listText(
                view.states.map(state => stateWord(state, trans)),
                trans
              )}
        </span>
      </MenuButton>
      {(owners.length > 1 || view.owners.length > 0 || view.mine) && (
        <MenuButton
          label={trans.__('Owner')}
          items={() => [
            allItem(
              trans.__('Everybody'),
              view.owners.length === 0 && !view.mine,
              () => model.change({ owners: [], mine: false })
            ),
            allItem(trans.__('Only mine'), view.mine, () =>
              model.change({ mine: !view.mine })
            ),
            null,
            ...owners.slice(0, 50).map(owner => ({
              label: owner || trans.__('you'),
              toggled: view.owners.includes(owner),
              execute: () =>
                model.change({ owners: toggled(view.owners, owner) })
            }))
          ]}
        >
          <span>
            {view.mine
              ? trans.__('Only mine')
              : view.owners.length === 0
                ? trans.__('Everybody')
                : listText(
                    view.owners.map(owner => owner || trans.__('you')),
                    trans
                  )}
          </span>
        </MenuButton>
      )}
      {(engines.length > 1 || view.engines.length > 0) && (
        <MenuButton
          label={trans.__('Where')}
          items={() => [
            allItem(trans.__('Everywhere'), view.engines.length === 0, () =>
              model.change({ engines: [] })
            ),
            ...engines.map(({ name, label }) => ({
              label,
              toggled: view.engines.includes(name),
              execute: () =>
                model.change({ engines: toggled(view.engines, name) })
            }))
          ]}
        >
          <span>
            {view.engines.length === 0
              ? trans.__('Everywhere')
              : listText(
                  view.engines.map(name => labelOf(engines, name)),
                  trans
                )}
          </span>
        </MenuButton>
      )}
      <MenuButton
        label={trans.__('Submitted')}
        items={() =>
          SINCE.map(since =>
            allItem(sinceText(since, trans), view.since === since, () =>
              model.change({ since })
            )
          )
        }
      >
        <span>{sinceText(view.since, trans)}</span>
      </MenuButton>
      <span className="jp-t9k-Runs-space" />
      <span className="jp-t9k-AllJobs-grouping">
        <span className="jp-t9k-secondary" aria-hidden>
          {trans.__('Group by')}
        </span>
        <MenuButton
          label={trans.__('Group by')}
          items={() =>
            GROUPS.map(group =>
              allItem(groupText(group, trans), view.group === group, () =>
                model.change({ group })
              )
            )
          }
        >
          <span>{groupText(view.group, trans)}</span>
        </MenuButton>
      </span>
      <ColumnsButton
        list={search => <ColumnList {...{ model, search, trans }} />}
        onDefault={() => model.change({ columns: null })}
        trans={trans}
      />
      <MoreButton label={trans.__('More actions')} items={props.moreItems} />
    </div>
  );
}

function allItem(
  label: string,
  isToggled: boolean,
  execute: () => void
): IMenuItem {
  return { label, toggled: isToggled, execute };
}

function toggled<Item>(items: readonly Item[], item: Item): Item[] {
  return items.includes(item)
    ? items.filter(each => each !== item)
    : [...items, item];
}

function listText(names: readonly string[], trans: TranslationBundle): string {
  return names.length > 2
    ? trans.__('%1 and %2 more', names[0], names.length - 1)
    : names.length === 2
      ? trans.__('%1 and %2', names[0], names[1])
      : names[0];
}

function countText(model: JobTableModel, trans: TranslationBundle): string {
  const { view, problem, shown, known } = model;
  if (problem) {
    return trans.__('not filtered');
  }
  return view.filter === '' || shown.length === known.length
    ? jobsText(shown.length, trans)
    : trans.__(
        '%1 of %2',
        formatCount(shown.length),
        jobsText(known.length, trans)
      );
}
