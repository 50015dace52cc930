/** Toolbar of the data flow: search, number of steps, graph or table, zoom. */
import { TranslationBundle } from '@jupyterlab/translation';
import { LabIcon, searchIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Flow } from '../../api/types';
import { Button, IconButton } from '../../ui/Buttons';
import { Icon } from '../../ui/Icon';
import { Segments } from '../../ui/Segments';
import { Steps } from './graph';
import { countText } from './text';

/** View of the data flow. */
export type FlowView = 'graph' | 'table';

interface IToggle {
  isOn: boolean;
  set(isOn: boolean): void;
}

interface IFlowToolbarProps {
  /** The part of the graph that is shown, with all runs of sweeps. */
  flow: Flow;
  /** Name of the run or artifact of the page. */
  home: string;
  steps: Steps;
  setSteps(steps: Steps): void;
  search: string;
  setSearch(search: string): void;
  /** Selects the first node that the search has found. */
  findFirst(): void;
  /** Folds the runs of sweeps; null if the graph has none. */
  folding: IToggle | null;
  /** Shows archived artifacts; null if the graph has none. */
  archived: IToggle | null;
  /** Null if there is no room for a graph. */
  view: FlowView | null;
  setView(view: FlowView): void;
  /** Null if no graph is shown. */
  zoom: { larger(): void; smaller(): void; fit(): void } | null;
  refresh: { icon: LabIcon; execute(): void };
  trans: TranslationBundle;
}

/** Toolbar of the data flow. */
export function FlowToolbar(props: IFlowToolbarProps): React.JSX.Element {
  const { flow, home, steps, search, view, zoom, refresh, trans } = props;
  const { folding, archived } = props;
  const all = trans.__('All');
  return (
    <div className="jp-t9k-Flow-toolbar">
      <label className="jp-t9k-Filter-field">
        <Icon of={searchIcon} size={16} />
        <span className="jp-t9k-visuallyHidden">
          {trans.__('Find a run or an artifact')}
        </span>
        <input
          type="search"
          value={search}
          placeholder={trans.__('Find a run or an artifact')}
          spellCheck={false}
          onChange={event => props.setSearch(event.target.value)}
          onKeyDown={event => {
            if (event.key === 'Enter') {
              props.findFirst();
            } else if (event.key === 'Escape' && search) {
              event.stopPropagation();
              props.setSearch('');
            }
          }}
        />
      </label>
      <span className="jp-t9k-Flow-steps">
        <span className="jp-t9k-secondary">
          {home
            ? trans.__('Steps from %1', home)
            : trans._p('data flow', 'Steps')}
        </span>
        <Segments
          aria-label={trans._p('data flow', 'Steps')}
          segments={['1', '2', '3', ''].map(value => ({
            value,
            label: value || all
          }))}
          value={steps === null ? '' : String(steps)}
          onChange={value => props.setSteps(value ? Number(value) : null)}
        />
      </span>
      {folding && (
        <Toggle option={folding} label={trans.__('Fold runs of a sweep')} />
      )}
      {archived && (
        <Toggle option={archived} label={trans.__('Archived artifacts')} />
      )}
      <span className="jp-t9k-secondary" role="status">
        {countText(flow, trans)}
      </span>
      <span className="jp-t9k-Flow-space" />
      {view && (
        <Segments<FlowView>
          aria-label={trans.__('View')}
          segments={[
            { value: 'graph', label: trans.__('Graph') },
            { value: 'table', label: trans.__('Table') }
          ]}
          value={view}
          onChange={props.setView}
        />
      )}
      {zoom && (
        <>
          <Button
            aria-label={trans.__('Zoom out')}
            title={trans.__('Zoom out')}
            onClick={zoom.smaller}
          >
            −
          </Button>
          <Button
            aria-label={trans.__('Zoom in')}
            title={trans.__('Zoom in')}
            onClick={zoom.larger}
          >
            +
          </Button>
          <Button onClick={zoom.fit}>{trans.__('Fit')}</Button>
        </>
      )}
      <IconButton
        icon={refresh.icon}
        label={trans.__('Refresh')}
        onClick={refresh.execute}
      />
    </div>
  );
}

function Toggle({
  option,
  label
}: {
  option: IToggle;
  label: string;
}): React.JSX.Element {
  return (
    <label>
      <input
        type="checkbox"
        checked={option.isOn}
        onChange={event => option.set(event.target.checked)}
      />{' '}
      {label}
    </label>
  );
}
