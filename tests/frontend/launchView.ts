import { ILaunchActions } from '../../src/components/launch/context';

/** What a launch form asks of the lab; no file or folder is chosen. */
export function someActions(): jest.Mocked<ILaunchActions> {
  return {
    openFile: jest.fn(),
    chooseFile: jest.fn().mockResolvedValue(null),
    chooseFolder: jest.fn().mockResolvedValue(null),
    pasteManifest: jest.fn(),
    correctManifest: jest.fn(),
    backToForm: jest.fn(),
    submit: jest.fn(),
    dryRun: jest.fn()
  };
}

/** jsdom lays nothing out: let everything be so wide. */
export function layOut(width: number): void {
  Element.prototype.scrollIntoView = () => undefined;
  window.ResizeObserver = class {
    constructor(private _call: ResizeObserverCallback) {}
    observe(): void {
      this._call(
        [{ contentRect: { width } } as ResizeObserverEntry],
        this as unknown as ResizeObserver
      );
    }
    unobserve(): void {}
    disconnect(): void {}
  } as unknown as typeof ResizeObserver;
  window.CSS ??= { escape: (text: string) => text } as typeof CSS;
}
