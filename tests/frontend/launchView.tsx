import { IStateDB } from '@jupyterlab/statedb';
import { act, render, RenderResult } from '@testing-library/react';
import * as React from 'react';
import { ILaunchActions } from '../../src/launch/parts/context';
import { ILaunchFormHandle } from '../../src/launch/form/LaunchForm';
import { LaunchView } from '../../src/launch/form/LaunchView';
import { LaunchModel } from '../../src/launch/model/launch';
import { LaunchStore } from '../../src/launch/model/store';
import { loadTranslation } from '../../src/common/translation';
import { someEditors } from './editors';

/** What a launch form asks of the lab; no file or folder is chosen. */
export function someActions(): jest.Mocked<ILaunchActions> {
  return {
    openFile: jest.fn(),
    chooseFile: jest.fn().mockResolvedValue(null),
    chooseRows: jest.fn(),
    chooseText: jest.fn().mockResolvedValue(null),
    chooseFolder: jest.fn().mockResolvedValue(null),
    pasteManifest: jest.fn(),
    correctManifest: jest.fn(),
    backToForm: jest.fn(),
    submit: jest.fn(),
    dryRun: jest.fn(),
    saveFirst: jest.fn().mockResolvedValue(true),
    withShortcut: jest.fn<string, [string, string]>(label => label)
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

/** Draw a launch form; also beside one that is drawn already. */
export async function drawLaunch(
  model: LaunchModel,
  db: IStateDB,
  actions = someActions(),
  editors = someEditors(),
  handle = React.createRef<ILaunchFormHandle>()
): Promise<RenderResult> {
  return act(async () =>
    render(
      <LaunchView
        model={model}
        store={new LaunchStore(db)}
        actions={actions}
        editors={editors}
        trans={loadTranslation(null)}
        prefix="t:"
        handle={handle}
      />
    )
  );
}
