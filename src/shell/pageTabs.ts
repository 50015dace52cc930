/** Tabs whose pages have an address and are loaded when they are opened. */
import { ILayoutRestorer, JupyterFrontEnd } from '@jupyterlab/application';
import { WidgetTracker } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { jobIcon } from '../ui/icons';
import { DeferredWidget } from './deferred';
import { showTab } from './showTab';

/** A page, as arguments of the command that opens it. */
export interface IPageAddress {
  /** Kind of the page. */
  page: string;
  /** Ids of the things that the page shows; empty for the page of all. */
  ids: string[];
}

interface IPageTabsOptions<Page extends Widget> {
  shell: JupyterFrontEnd.IShell;
  /** Namespace of the tabs' ids and of the layout that JupyterLab restores. */
  namespace: string;
  /** Title of a tab until its page is loaded. */
  label: string;
  /** Name of the kind of tab in JupyterLab's list of tabs. */
  type: string;
  /** Load the code of a page and create it. */
  load(address: IPageAddress): Promise<Page>;
  trans: TranslationBundle;
}

/** The tabs of one plugin. An address has at most one tab. */
export class PageTabs<Page extends Widget> {
  constructor(private readonly _options: IPageTabsOptions<Page>) {
    const { namespace } = _options;
    this._tracker = new WidgetTracker<DeferredWidget<Page>>({ namespace });
  }

  /** Show the tab of an address; create it if there is none. */
  open(address: IPageAddress): DeferredWidget<Page> {
    const { namespace, shell, type } = this._options;
    const id = [namespace, address.page, ...address.ids].join('-');
    const known = this._tracker.find(tab => tab.id === id);
    const tab = known ?? this._create(id, address);
    showTab(shell, tab, type);
    return tab;
  }

  /**
   * Restore the tabs that were open when JupyterLab was left.
   *
   * @param command - Command that opens a page. Its arguments are the address.
   */
  restore(restorer: ILayoutRestorer | null, command: string): void {
    void restorer?.restore(this._tracker, {
      command,
      args: tab => ({ ...this._addresses.get(tab) }),
      name: tab => tab.id
    });
  }

  private _create(id: string, address: IPageAddress): DeferredWidget<Page> {
    const { load, label, trans } = this._options;
    const tab = new DeferredWidget({ load: () => load(address), trans });
    tab.id = id;
    tab.node.tabIndex = -1;
    tab.title.icon = jobIcon;
    tab.title.label = label;
    tab.title.closable = true;
    this._addresses.set(tab, address);
    void tab.load();
    void this._tracker.add(tab);
    return tab;
  }

  private readonly _tracker: WidgetTracker<DeferredWidget<Page>>;
  private readonly _addresses = new WeakMap<Widget, IPageAddress>();
}
