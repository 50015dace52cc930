/** Model of the launch form: opens it, restores it, and lets the user edit its manifest as YAML. */
import { expectApiError } from '../../api/errors';
import { ReadManifest } from '../../api/types';
import { isMount } from '../content/form';
import { LaunchStartingPoints } from './startingPoints';
import { IManifest } from './state';
import { ISavedTab } from './store';

/**
 * Longest manifest, in characters, that the form keeps beside its fields. It is sent with each preview, and the server
 * accepts 1 MiB.
 */
const LONGEST_WRITTEN = 200_000;

/** Model of a launch form. */
export class LaunchModel extends LaunchStartingPoints {
  /** Open the form: restore the tab's saved edits, or fill the form from its manifest, job or file. */
  async open(): Promise<void> {
    const { store, tab } = this._options;
    const saved = await store.tab(tab);
    this._set({
      images: await store.images(),
      lastSubmission: await store.lastSubmission()
    });
    if (saved && (await this._restore(saved))) {
      return;
    }
    if (this._begun || this.state.clone) {
      await this._storeSource();
    } else {
      await this._readSource();
    }
    if (this._begun) {
      return this._openManifest(this._begun);
    }
    this._set({ lastTime: await this._lastTime() });
    const { clone, lastTime } = this.state;
    if (!(clone?.engine || lastTime?.engine)) {
      this._set(await this._usualLocation());
    }
    await this.startFrom(clone ? 'job' : lastTime ? 'last' : 'defaults');
  }

  /** Open the form with a corrected text of the pasted manifest. */
  async correct(text: string): Promise<void> {
    if (this._begun) {
      this._begun = { ...this._begun, text };
      this._set({ failure: null });
      await this.open();
    }
  }

  /** Replace the form by its manifest. The edited manifest is submitted. */
  async editAsYaml(): Promise<void> {
    if (this.isLocked || this.state.busy) {
      return;
    }
    this._set({ filling: true }); // lock the form: the text would miss an edit made during the request
    await this.preview.catchUp();
    this._set({ filling: false });
    const text = this.preview.shown?.manifest;
    if (text && this.preview.isCurrent) {
      this._set({ manifest: { text, before: text } });
      this._edit(this.form);
    }
    this._settle();
  }

  /** Set the text of the edited manifest. */
  setManifest(text: string): void {
    const { manifest } = this.state;
    if (manifest && manifest.text !== text && !this.isFrozen) {
      this._set({ manifest: { ...manifest, text } });
      this._edit(this.form);
    }
  }

  /** True if the user has edited the manifest. */
  get isManifestChanged(): boolean {
    const { manifest } = this.state;
    return manifest !== null && manifest.text !== manifest.before;
  }

  /** Request the spec of the edited manifest; null if the server can't read it. `state.refusal` has the reason. */
  async readManifest(): Promise<ReadManifest | null> {
    const { manifest, busy } = this.state;
    if (!manifest || busy) {
      return null;
    }
    const { text } = manifest;
    this._set({ busy: 'reading', refusal: null });
    try {
      return await this._options.api.readManifest({ text, ...this._location });
    } catch (error) {
      this._set({ refusal: expectApiError(error) });
      return null;
    } finally {
      this._set({ busy: null });
    }
  }

  /**
   * Close the manifest and return to the form.
   *
   * @param read - The spec of the edited manifest; null discards the edits.
   */
  async backToForm(read: ReadManifest | null = null): Promise<void> {
    if (this.isFrozen) {
      return;
    }
    const text = this.state.manifest?.text ?? null;
    this._set({ manifest: null, refusal: null });
    if (read) {
      this._set({ written: keptText(text) });
      const { notes, spec } = read;
      // Keep incomplete rows: a manifest can't contain them.
      const rows = this.form.spec.mounts.filter(mount => !isMount(mount));
      this._set({ ...this._at(read), notes });
      await this._fill({ ...spec, mounts: [...spec.mounts, ...rows] });
    } else {
      this._edit(this.form);
      await this.preview.refresh();
    }
  }

  /** Remove the notes, because the user has closed them. */
  dropNotes(): void {
    this._set({ notes: [] });
  }

  /** Store the manifest or job with which the tab was opened, until the tab itself is saved. */
  private async _storeSource(): Promise<void> {
    const { store, tab } = this._options;
    const { clone } = this.state;
    const manifest = this._begun;
    if (manifest && keptText(manifest.text) === null) {
      await store.removeSource(tab); // an earlier, shorter text
    } else {
      await store.saveSource(tab, { clone, manifest });
    }
  }

  /** Read, after a reload of the page, with what the tab was opened. */
  private async _readSource(): Promise<void> {
    const source = await this._options.store.source(this._options.tab);
    if (source) {
      this._begun = source.manifest;
      const title = source.manifest?.name ?? null;
      this._set({ clone: source.clone, title });
    }
  }

  /** Open a manifest as a form. If the form can't represent all of it, open it as YAML. */
  private async _openManifest({ text }: IManifest): Promise<void> {
    let read: ReadManifest;
    try {
      read = await this._options.api.readManifest({ text });
    } catch (error) {
      this._set({ failure: expectApiError(error) });
      return;
    }
    const { engine, namespace, notes, spec } = read;
    this._set({ engine, namespace, notes, written: keptText(text) });
    const prefill = await this._load(spec, this._location, engine);
    if (prefill) {
      this._set({ prefill });
      await this._fill(spec);
      const isLess = read.lost.some(({ level }) => level !== 'hint');
      if (read.manifest !== null && isLess) {
        // With an empty `before` the manifest counts as edited, so returning to the form needs a confirmation.
        this._set({ manifest: { text: read.manifest, before: '' } });
        this._edit(this.form);
      }
    }
  }

  /** Restore saved edits. Return false if the server refuses them as invalid. */
  private async _restore(saved: ISavedTab): Promise<boolean> {
    const { form, spec, manifest, sent = null, ...rest } = saved;
    const { sentSweep = null, ...others } = rest;
    this._set(others);
    this._set({ lastTime: await this._lastTime() });
    const { prefill, location } = await this._loadAt(this._location, spec);
    if (!prefill) {
      return this.state.failure?.status !== 422; // after other errors the edits stay saved for another try
    }
    // Keep the request's id: a page that was reloaded during the submission must not create a second job.
    const at = this._at(location.engine ? location : prefill);
    this._set({ ...at, prefill, form, manifest, sent, sentSweep });
    void this.presets.follow();
    this.sweepJobs.schedule();
    await this.preview.refresh();
    return true;
  }
}

/** Return a manifest that the form keeps beside its fields; null if it is too long. */
function keptText(text: string | null): string | null {
  return text !== null && text.length <= LONGEST_WRITTEN ? text : null;
}
