/** Tabs of the saved views. */
import { addIcon } from '@jupyterlab/ui-components';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { formatCount } from '../../common/format';
import { LinkButton } from '../../ui/Buttons';
import { Icon } from '../../ui/Icon';
import { isOther, JobTableModel } from '../model/table';
import {
  BUILT_IN,
  BUILT_IN_VIEWS,
  BuiltIn,
  IJobsView,
  ownKey
} from '../model/view';
import { viewText } from './text';

interface IViewTabsProps {
  model: JobTableModel;
  /** Save the shown settings under a name that the user chooses. */
  onSave(): void;
  trans: TranslationBundle;
}

/** The views with their numbers of jobs. A changed view offers to save the change. */
export function ViewTabs({
  model,
  onSave,
  trans
}: IViewTabsProps): React.JSX.Element {
  const { views, chosen, view } = model;
  const tab = (key: string, label: string, of: IJobsView, isOwn: boolean) => {
    const isChosen = key === chosen;
    const isChanged = isChosen && isOther(view, of);
    return (
      <span key={key} className="jp-t9k-AllJobs-view" data-chosen={isChosen}>
        <button
          type="button"
          aria-pressed={isChosen}
          onClick={() => model.choose(key, of)}
          title={
            isChanged
              ? trans.__('Show this view without your changes')
              : undefined
          }
        >
          {label}{' '}
          <span className="jp-t9k-caption">
            {formatCount(model.count(isChanged ? view : of))}
          </span>
        </button>
        {isChanged && isOwn && (
          <LinkButton
            onClick={() => {
              model.views = { ...views, [label]: view };
            }}
          >
            {trans.__('Save')}
          </LinkButton>
        )}
      </span>
    );
  };
  return (
    <div
      className="jp-t9k-AllJobs-views"
      role="group"
      aria-label={trans.__('Views')}
    >
      {BUILT_IN.map((key: BuiltIn) =>
        tab(key, viewText(key, trans), BUILT_IN_VIEWS[key], false)
      )}
      {Object.keys(views)
        .sort()
        .map(name => tab(ownKey(name), name, views[name], true))}
      <button type="button" className="jp-t9k-AllJobs-save" onClick={onSave}>
        <Icon of={addIcon} size={16} />
        {trans.__('Save view…')}
      </button>
    </div>
  );
}
