/** Page of an artifact; loaded when its tab is opened. */
import { Clipboard, Notification } from '@jupyterlab/apputils';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { Widget } from '@lumino/widgets';
import * as React from 'react';
import { formatBytes } from '../../common/format';
import { notifyError } from '../../shell/notices';
import { PageWidget } from '../../shell/pageWidget';
import { ExperimentsClient } from '../client';
import { artifactIcon } from '../flow/NodeIcon';
import { CreatePage, IExperimentsLab } from '../host';
import { openArtifact, openRun, tabTitle } from '../open';
import { confirmRemoval } from '../removal';
import { IArtifactLab } from './ArtifactHeader';
import { ArtifactView } from './ArtifactView';
import { ArtifactModel } from './model';
import '../../../style/pages.css';
import '../../../style/experiments/flow.css';
import '../../../style/experiments/artifact.css';

/** Create the content of an artifact's tab. */
export const createArtifactPage: CreatePage = async ({ ids }, lab) => {
  const client = new ExperimentsClient(lab.jobs.api.serverSettings, lab.trans);
  const model = new ArtifactModel(client, ids[0] ?? '');
  const registry = await lab.app.resolveOptionalService(IRenderMimeRegistry);
  return new ArtifactWidget(model, lab, registry);
};

/** Content of an artifact's tab. */
class ArtifactWidget extends PageWidget<ArtifactModel> {
  constructor(
    model: ArtifactModel,
    private readonly _lab: IExperimentsLab,
    registry: IRenderMimeRegistry | null
  ) {
    super(model, {
      className: 'jp-t9k-ArtifactTab',
      label: _lab.trans.__('Artifact'),
      icon: artifactIcon
    });
    this._functions = {
      ...functionsOf(_lab, registry),
      remove: () => void this._remove()
    };
    model.changed.connect(this._entitle, this);
  }

  protected override render(): React.JSX.Element {
    return (
      <ArtifactView
        model={this.model}
        lab={this._functions}
        trans={this._lab.trans}
      />
    );
  }

  /** Delete the artifact and close the tab, after the user has confirmed the list of folders. */
  private async _remove(): Promise<void> {
    const { model, _lab: lab } = this;
    const { trans } = lab;
    try {
      const { items, size } = await model.client.remove([model.id], true);
      const title = trans.__('Delete %1?', model.detail?.name ?? '');
      const says = trans.__(
        '%1 will be deleted. Runs that used or made the artifact are kept.',
        formatBytes(size)
      );
      if (await confirmRemoval({ title, says }, items, trans)) {
        await model.client.remove([model.id], false);
        this.parent?.dispose();
      }
    } catch (error) {
      notifyError(error, trans);
    }
  }

  private _entitle(): void {
    const { detail } = this.model;
    if (detail) {
      this.title.label = tabTitle(detail.name);
      this.title.caption = detail.path ?? detail.name;
    }
  }

  private readonly _functions: IArtifactLab;
}

/** Return the lab's functions for the page. */
function functionsOf(
  { app, trans }: IExperimentsLab,
  registry: IRenderMimeRegistry | null
): Omit<IArtifactLab, 'remove'> {
  const { commands } = app;
  return {
    open: (kind, id) =>
      kind === 'run' ? openRun(commands, id) : openArtifact(commands, id),
    openFolder: path =>
      void commands
        .execute('filebrowser:open-path', { path })
        .catch((error: unknown) => notifyError(error, trans)),
    copy: text => {
      Clipboard.copyToSystem(text);
      Notification.success(trans.__('Copied'), { autoClose: 3000 });
    },
    renderMarkdown: registry && (text => renderMarkdown(text, registry))
  };
}

/** Render Markdown without trusting it: the lab's sanitizer removes scripts. */
async function renderMarkdown(
  text: string,
  registry: IRenderMimeRegistry
): Promise<Widget> {
  const type = 'text/markdown';
  const renderer = registry.createRenderer(type);
  const data = { [type]: text };
  await renderer.renderModel(registry.createModel({ data, trusted: false }));
  return renderer;
}
