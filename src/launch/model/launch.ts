import { expectApiError } from '../../api/client';
import { EngineInfo, ReadManifest } from '../../api/types';
import { isMount } from './form';
import { usualPlace } from '../../cluster/model/places';
import { LaunchFilling } from './filling';
import { IManifest } from './state';
import { ISavedTab } from './store';

/** A launch form: how it begins, its fields, and its manifest while that is edited by hand. */
export class LaunchModel extends LaunchFilling {
  /** Take up the tab's saved edits if there are any, else what the file was last submitted with. */
  async open(): Promise<void> {
    const { store, tab } = this._options;
    const saved = await store.tab(tab);
    this._set({ images: await store.images() });
    if (saved && (await this._restore(saved))) {
      return;
    }
    if (this._begun) {
      return this._openManifest(this._begun);
    }
    this._set({ lastTime: await this._lastTime() });
    const { clone, lastTime } = this.state;
    if (!(clone?.engine || lastTime?.engine)) {
      const engines = await this._askEngines();
      this._set(usualPlace(engines, await store.lastPlace()));
    }
    await this.startFrom(clone ? 'job' : lastTime ? 'last' : 'defaults');
  }

  /** Begin with the pasted manifest as it was corrected. */
  async correct(text: string): Promise<void> {
    if (this._begun) {
      this._begun = { ...this._begun, text };
      this._set({ failure: null });
      await this.open();
    }
  }

  /** Make the manifest the source: it is submitted as edited. */
  async editAsYaml(): Promise<void> {
    if (this.isLocked || this.state.busy) {
      return;
    }
    this._set({ filling: true }); // an edit that comes now would not be in the text
    await this.preview.catchUp();
    this._set({ filling: false });
    const text = this.preview.shown?.manifest;
    if (text && this.preview.isCurrent) {
      this._set({ manifest: { text, before: text } });
      this._edit(this.form);
    }
    this._settle();
  }

  setManifest(text: string): void {
    const { manifest } = this.state;
    if (manifest && manifest.text !== text && !this.isFrozen) {
      this._set({ manifest: { ...manifest, text } });
      this._edit(this.form);
    }
  }

  /** Whether the manifest differs from what the form amounts to. */
  get isManifestChanged(): boolean {
    const { manifest } = this.state;
    return manifest !== null && manifest.text !== manifest.before;
  }

  /** Ask what the edited manifest is as a form; null if it can't be read, which is a refusal then. */
  async readManifest(): Promise<ReadManifest | null> {
    const { manifest, busy } = this.state;
    if (!manifest || busy) {
      return null;
    }
    const { text } = manifest;
    this._set({ busy: 'reading', refusal: null });
    try {
      return await this._options.api.readManifest({ text, ...this._place });
    } catch (error) {
      this._set({ refusal: expectApiError(error) });
      return null;
    } finally {
      this._set({ busy: null });
    }
  }

  /** Go on with the form: as the manifest says, or without one as it was before. */
  async backToForm(read: ReadManifest | null = null): Promise<void> {
    if (this.isFrozen) {
      return;
    }
    this._set({ manifest: null, refusal: null });
    if (read) {
      const { notes, spec } = read;
      // A manifest has no place for rows that are not finished.
      const rows = this.form.spec.mounts.filter(mount => !isMount(mount));
      this._set({ ...this._at(read), notes });
      await this._fill({ ...spec, mounts: [...spec.mounts, ...rows] });
    } else {
      this._edit(this.form);
      await this.preview.refresh();
    }
  }

  /** The notes have been read. */
  dropNotes(): void {
    this._set({ notes: [] });
  }

  /** The engines, also before the page has been told of them. */
  private async _askEngines(): Promise<readonly EngineInfo[]> {
    if (this.engines.length || !this._options.jobs) {
      return this.engines;
    }
    return this._options.api.engines().catch(() => []); // filling the form fails as well, and says why
  }

  /** Begin with a manifest: as a form, or where that would lose something, as it is. */
  private async _openManifest({ text }: IManifest): Promise<void> {
    let read: ReadManifest;
    try {
      read = await this._options.api.readManifest({ text });
    } catch (error) {
      this._set({ failure: expectApiError(error) });
      return;
    }
    const { engine, namespace, notes, spec } = read;
    this._set({ engine, namespace, notes });
    const prefill = await this._load(spec, this._place, engine);
    if (prefill) {
      this._set({ prefill });
      await this._fill(spec);
      const isLess = read.lost.some(({ level }) => level !== 'hint');
      if (read.manifest !== null && isLess) {
        // Going back to the form is asked for, though nothing was edited.
        this._set({ manifest: { text: read.manifest, before: '' } });
        this._edit(this.form);
      }
    }
  }

  private async _restore(saved: ISavedTab): Promise<boolean> {
    const { form, spec, manifest, sent = null, ...others } = saved;
    this._set(others);
    this._set({ lastTime: await this._lastTime() });
    const prefill = await this._load(spec);
    if (!prefill) {
      return this.state.failure?.status !== 422; // the edits are still there when one tries again
    }
    // The request's id stays as well: a page that was reloaded while it submitted makes no second job.
    this._set({ prefill, form, manifest, sent });
    await this.preview.refresh();
    return true;
  }
}
