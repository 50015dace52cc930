/** Model of an artifact's page: the artifact, its previews and checksums. */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { ApiError, expectApiError } from '../../api/errors';
import {
  ArtifactDetail,
  ArtifactFile,
  Checksum,
  Preview
} from '../../api/types';
import { ExperimentsClient } from '../client';

/** The parts of an artifact's page. */
export type ArtifactPane = 'files' | 'flow';

/** Without a selection, files up to this size in bytes are shown one after another. */
const SMALL: Record<ArtifactFile['kind'], number> = {
  text: 64_000,
  markdown: 256_000,
  table: 1_000_000,
  image: 2_000_000,
  tensors: Infinity, // only the header is read
  none: -1
};
/** Number of small files that are shown one after another. */
const MOST_SHOWN = 6;

/** An answer; undefined until it is there. */
export type Answer<T> = T | ApiError | undefined;

/** Reads an artifact, and the previews and checksums of its files. */
export class ArtifactModel implements IDisposable {
  constructor(
    readonly client: ExperimentsClient,
    readonly id: string
  ) {
    void this.load();
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** The artifact; null until it is read. */
  get detail(): ArtifactDetail | null {
    return this._detail;
  }

  /** Why the artifact could not be read; null if it could. */
  get failure(): ApiError | null {
    return this._failure;
  }

  get pane(): ArtifactPane {
    return this._pane;
  }

  set pane(pane: ArtifactPane) {
    this._pane = pane;
    this._changed.emit();
  }

  /** Path of the file that is shown alone; null if the small files are shown. */
  get selected(): string | null {
    return this._selected;
  }

  set selected(path: string | null) {
    this._selected = path;
    this._changed.emit();
  }

  /** The files whose previews are shown. */
  get shown(): ArtifactFile[] {
    const { files = [] } = this._detail ?? {};
    if (this._selected !== null) {
      return files.filter(({ path }) => path === this._selected);
    }
    return files
      .filter(({ kind, size }) => size <= SMALL[kind])
      .slice(0, MOST_SHOWN);
  }

  dispose(): void {
    this._isDisposed = true;
    Signal.clearData(this);
  }

  /** Read the artifact again. */
  async load(): Promise<void> {
    try {
      this._detail = await this.client.artifact(this.id);
      this._failure = null;
      this._previews.clear();
      this._texts.clear();
      this._checksums.clear();
    } catch (error) {
      this._failure = expectApiError(error);
    }
    this._emit();
  }

  /** Archive or restore the artifact. */
  async archive(archived: boolean): Promise<void> {
    try {
      this._detail = await this.client.archiveArtifact(this.id, archived);
      this._failure = null;
    } catch (error) {
      this._failure = expectApiError(error);
    }
    this._emit();
  }

  /** Return the preview of a file; it is read when it is asked for first. */
  preview(path: string): Answer<Preview> {
    if (!this._previews.has(path)) {
      this._previews.set(path, undefined);
      void this._read(this._previews, path, this.client.preview(this.id, path));
    }
    return this._previews.get(path);
  }

  /** Return the preview of a table as text; it is read when it is asked for first. */
  tableText(path: string): Answer<Preview> {
    if (!this._texts.has(path)) {
      this._texts.set(path, undefined);
      const answer = this.client.preview(this.id, path, true);
      void this._read(this._texts, path, answer);
    }
    return this._texts.get(path);
  }

  /** Return true if the user chose to see the text of a page or table. */
  showsText(path: string): boolean {
    return this._asText.has(path);
  }

  /** Show a page or table as text, or as what it is. */
  setShowsText(path: string, asText: boolean): void {
    if (asText) {
      this._asText.add(path);
    } else {
      this._asText.delete(path);
    }
    this._changed.emit();
  }

  /** Return the checksums of a file; null if they were not asked for. */
  checksum(path: string): Answer<Checksum> | null {
    return this._checksums.has(path) ? this._checksums.get(path) : null;
  }

  /** Compute the checksums of a file. */
  computeChecksum(path: string): void {
    this._checksums.set(path, undefined);
    this._changed.emit();
    void this._read(this._checksums, path, this.client.checksum(this.id, path));
  }

  private async _read<T>(
    answers: Map<string, Answer<T>>,
    path: string,
    answer: Promise<T>
  ): Promise<void> {
    try {
      answers.set(path, await answer);
    } catch (error) {
      answers.set(path, expectApiError(error));
    }
    this._emit();
  }

  private _emit(): void {
    if (!this._isDisposed) {
      this._changed.emit();
    }
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _previews = new Map<string, Answer<Preview>>();
  private readonly _texts = new Map<string, Answer<Preview>>();
  private readonly _asText = new Set<string>();
  private readonly _checksums = new Map<string, Answer<Checksum>>();
  private _detail: ArtifactDetail | null = null;
  private _failure: ApiError | null = null;
  private _pane: ArtifactPane = 'files';
  private _selected: string | null = null;
  private _isDisposed = false;
}
