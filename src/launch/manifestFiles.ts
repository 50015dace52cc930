/** Detection of manifest files that can run as jobs. */
import { FileBrowser } from '@jupyterlab/filebrowser';
import { Contents } from '@jupyterlab/services';
import { MANIFEST_BYTES } from '../api/constants';
import { IJobsModel } from '../tokens';

/** Number of characters at the start of a file that are searched for the kind. */
const DECISIVE = 64 * 1024;

/** Maximum number of files in a folder that are read in advance. */
const AHEAD = 50;

/** A file as the file browser lists it. */
type Listed = Pick<Contents.IModel, 'path' | 'type' | 'last_modified' | 'size'>;

/** Return true if a file has an extension of YAML. */
export function isYaml(path: string): boolean {
  return /\.ya?ml$/.test(path);
}

/**
 * Return true if a text contains an object of one of the kinds.
 *
 * @param kinds - Kinds of objects that can run as jobs.
 */
export function isOfKind(text: string, kinds: readonly string[]): boolean {
  if (kinds.length === 0) {
    return false;
  }
  const head = text.slice(0, DECISIVE);
  const any = kinds.map(escaped).join('|');
  if (/^\s*\{/.test(head)) {
    return new RegExp(`"kind"\\s*:\\s*"(${any})"`).test(head);
  }
  // A manifest inside a value of another object has a larger indentation than the object's own fields.
  const indent = /^( *)(?:apiVersion|kind|metadata|spec)\s*:/m.exec(head)?.[1];
  return new RegExp(
    `^${indent ?? ''}kind\\s*:\\s*(["']?)(${any})\\1\\s*(#.*)?$`,
    'm'
  ).test(head);
}

/** Return a regular expression that matches a text literally. */
function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/**
 * Detects files with manifests that can run as jobs.
 *
 * A context menu needs the answer at once. Therefore the YAML files of a folder are read one after another when the
 * file browser lists them, and again after a change. No file is read while no engine that accepts manifests is available.
 */
export class ManifestFiles {
  /**
   * @param _contents - Reads the files.
   * @param _jobs - Knows the engines and the kinds that they accept.
   * @param _onChange - Called when a file turns out to be a manifest or no longer is one.
   */
  constructor(
    private readonly _contents: Contents.IManager,
    private readonly _jobs: Pick<IJobsModel, 'engines'>,
    private readonly _onChange: () => void
  ) {}

  /**
   * Kinds of objects that can run as jobs; empty while no engine that accepts manifests is available.
   *
   * The kinds of unavailable engines are included, because the form converts a manifest for another engine.
   */
  get kinds(): string[] {
    const isPossible = this._jobs.engines.some(
      ({ available, facts }) => available && facts.manifest_object !== null
    );
    return isPossible ? this._listedKinds : [];
  }

  /** Return true if a file is known to be a manifest. Start reading the file if it is new or has changed. */
  has(file: Listed): boolean {
    if (!this._isCandidate(file)) {
      return false;
    }
    const kinds = this._listedKinds.join();
    if (kinds !== this._knownFor) {
      this._known.clear();
      this._knownFor = kinds;
    }
    const known = this._known.get(file.path);
    if (known?.time !== file.last_modified) {
      void this._look(file);
    }
    return known?.is ?? false;
  }

  /** Read the files that a file browser lists, now and after each refresh. */
  follow({ model }: FileBrowser): void {
    const look = (): void => {
      const files = [...model.items()].filter(file => this._isCandidate(file));
      files.slice(0, AHEAD).forEach(file => this.has(file));
    };
    model.refreshed.connect(look);
    look();
  }

  /** Return true if a file may be a manifest, by its extension and size. */
  private _isCandidate({ path, type, size }: Listed): boolean {
    const isFile = type !== 'directory' && isYaml(path);
    return isFile && (size ?? 0) <= MANIFEST_BYTES && this.kinds.length > 0;
  }

  /** Queue a file to be read, and remember the result for the file's modification time. */
  private _look({ path, last_modified: time }: Listed): Promise<void> {
    const is = this._known.get(path)?.is ?? false;
    this._known.set(path, { time, is });
    this._queue = this._queue.then(async () => {
      const now = await this._read(path);
      this._known.set(path, { time, is: now });
      if (now !== is) {
        this._onChange();
      }
    });
    return this._queue;
  }

  /** Return true if a file contains a manifest; false if it can't be read. */
  private async _read(path: string): Promise<boolean> {
    try {
      const file = await this._contents.get(path, {
        type: 'file',
        format: 'text',
        content: true
      });
      return isOfKind(String(file.content), this._listedKinds);
    } catch (error) {
      // The file was deleted or contains no text. The file browser reports the error when the user opens the file.
      console.debug(`t9kjob: ${path} could not be read.`, error);
      return false;
    }
  }

  /** Kinds of the objects that all engines accept, including unavailable engines. */
  private get _listedKinds(): string[] {
    return this._jobs.engines.flatMap(
      ({ facts }) => facts.manifest_object ?? []
    );
  }

  private readonly _known = new Map<string, { time: string; is: boolean }>();
  /** The kinds for which `_known` is valid. */
  private _knownFor = '';
  private _queue = Promise.resolve();
}
