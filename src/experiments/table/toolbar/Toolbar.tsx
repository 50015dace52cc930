/** Toolbar of the table of runs. */
import { InputDialog } from '@jupyterlab/apputils';
import { FileDialog } from '@jupyterlab/filebrowser';
import { folderIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { IMenuItem } from '../../../common/menu';
import { ColumnsButton } from '../../../ui/table/ColumnsButton';
import { FilterField } from '../../../ui/filter/FilterField';
import { Icon } from '../../../ui/Icon';
import { problemText } from '../../../ui/filter/filterProblem';
import { MenuButton, MoreButton } from '../../../ui/MenuButton';
import { Segments } from '../../../ui/Segments';
import { askViewName } from '../../../shell/viewName';
import { IExperimentsLab } from '../../host';
import { ExperimentsModel } from '../../model/experiments';
import { folderOfRun, parentsOf } from '../../model/folders';
import { DEFAULT_VIEW, GROUPS, TableShape } from '../../model/view';
import { RunActions } from '../actions';
import { ColumnList } from './ColumnList';
import { countText, folderText, formatScalar, groupText } from '../text';

/** Hyperparameters and folders that the menus name. */
const FEW = 8;

/** Properties of the toolbars. */
export interface IToolbarProps {
  model: ExperimentsModel;
  actions: RunActions;
  lab: IExperimentsLab;
}

/** Filter, folder, group, columns and views. */
export function Toolbar(props: IToolbarProps): React.JSX.Element {
  const { model, lab } = props;
  const { trans } = lab;
  const { view } = model;
  return (
    <div className="jp-t9k-Runs-toolbar">
      <FilterField
        label={trans.__('Filter the runs')}
        placeholder={trans.__('Filter: lr < 0.01 and val.accuracy > 0.97')}
        text={view.filter}
        onChange={filter => model.change({ filter })}
        problem={model.problem}
        problemText={
          model.problem
            ? problemText(
                model.problem,
                trans.__('No run has “%1”.', model.problem.word),
                trans
              )
            : ''
        }
        count={countText(model, trans)}
        fields={model.fields}
        rows={model.known}
        format={formatScalar}
        trans={trans}
      />
      <MenuButton label={trans.__('Folder')} items={() => folderItems(props)}>
        <Icon of={folderIcon} size={16} />
        <span>{folderText(view.folder, trans)}</span>
      </MenuButton>
      <span className="jp-t9k-Runs-space" />
      <span className="jp-t9k-secondary" aria-hidden>
        {trans.__('Group by')}
      </span>
      <MenuButton label={trans.__('Group by')} items={() => groupItems(props)}>
        <span>{groupText(view.group, trans)}</span>
      </MenuButton>
      <ColumnsButton
        list={search => <ColumnList {...{ model, search, trans }} />}
        onDefault={() => model.change({ columns: null })}
        trans={trans}
      />
      <Segments<TableShape>
        aria-label={trans.__('View')}
        segments={[
          { value: 'table', label: trans.__('Table') },
          { value: 'parallel', label: trans.__('Parallel coordinates') }
        ]}
        value={view.shape}
        onChange={shape => model.change({ shape })}
      />
      <MoreButton
        label={trans.__('Views and more')}
        items={() => moreItems(props)}
      />
    </div>
  );
}

/** Folders above and below the chosen one, and a dialog for all others. */
function folderItems({ model, lab }: IToolbarProps): (IMenuItem | null)[] {
  const { folder } = model.view;
  const { documents, trans } = lab;
  const below = new Set(
    model.known.map(run => folderOfRun(run.path)).filter(Boolean)
  );
  below.delete(folder);
  const item = (path: string): IMenuItem => ({
    label: folderText(path, trans),
    toggled: path === folder,
    execute: () => model.change({ folder: path })
  });
  const items = [
    item(''),
    ...parentsOf(folder).reverse().map(item),
    ...(folder ? [item(folder)] : []),
    ...[...below].sort().slice(0, FEW).map(item)
  ];
  return documents
    ? [
        ...items,
        null,
        {
          label: trans.__('Choose a folder…'),
          execute: async () => {
            const { button, value } = await FileDialog.getExistingDirectory({
              manager: documents,
              title: trans.__('Choose a folder of runs'),
              defaultPath: folder
            });
            if (button.accept && value?.length) {
              const { contents } = lab.app.serviceManager;
              model.change({ folder: contents.localPath(value[0].path) });
            }
          }
        }
      ]
    : items;
}

function groupItems({ model, lab }: IToolbarProps): (IMenuItem | null)[] {
  const { trans } = lab;
  const names = model.allColumns.flatMap(({ kind, name }) =>
    kind === 'parameter' ? [name] : []
  );
  const item = (group: string): IMenuItem => ({
    label: groupText(group, trans),
    toggled: group === model.view.group,
    execute: () => model.change({ group })
  });
  return [
    ...['', ...GROUPS].map(item),
    null,
    ...names.slice(0, FEW).map(name => item(`p:${name}`)),
    ...(names.length > FEW
      ? [
          {
            label: trans.__('More…'),
            execute: async () => {
              const { button, value } = await InputDialog.getItem({
                title: trans.__('Group by a hyperparameter'),
                items: names,
                okLabel: trans.__('Group')
              });
              if (button.accept && value) {
                model.change({ group: `p:${value}` });
              }
            }
          }
        ]
      : [])
  ];
}

/** Saved views, archived runs, and actions on all shown runs. */
function moreItems({
  model,
  actions,
  lab
}: IToolbarProps): (IMenuItem | null)[] {
  const { trans } = lab;
  const { views, view, runs } = model;
  const names = Object.keys(views).sort();
  const empty = runs.length === 0 ? trans.__('No run is shown.') : null;
  return [
    ...names.map(name => ({
      label: trans.__('View “%1”', name),
      execute: () => {
        model.view = views[name];
      }
    })),
    {
      label: trans.__('Save the view…'),
      execute: async () => {
        const name = await askViewName(names, trans);
        if (name !== null) {
          model.views = { ...views, [name]: view };
        }
      }
    },
    ...(names.length > 0
      ? [
          {
            label: trans.__('Delete a view…'),
            execute: async () => {
              const { button, value } = await InputDialog.getItem({
                title: trans.__('Delete a view'),
                items: names,
                okLabel: trans.__('Delete')
              });
              if (button.accept && value) {
                model.views = Object.fromEntries(
                  Object.entries(views).filter(([name]) => name !== value)
                );
              }
            }
          }
        ]
      : []),
    {
      label: trans.__('Back to the default view'),
      execute: () => {
        model.view = { ...DEFAULT_VIEW, folder: view.folder };
      }
    },
    null,
    {
      label: trans.__('Show archived runs'),
      toggled: view.archived,
      execute: () => model.change({ archived: !view.archived })
    },
    null,
    {
      label: trans.__('Copy all shown runs as pandas'),
      disabled: empty,
      execute: () => actions.copyPandas(runs)
    },
    {
      label: trans.__('Export all shown runs as CSV'),
      disabled: empty,
      execute: () => actions.exportCsv(runs)
    }
  ];
}
