/** Content of a launch tab: the form, a loading text, or the error that prevents the form. */
import { IEditorServices } from '@jupyterlab/codeeditor';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { ApiError } from '../../api/errors';
import { errorIcon } from '../../ui/icons';
import { LaunchModel } from '../model/launch';
import { LaunchStore } from '../model/store';
import { Button } from '../../ui/Buttons';
import { EmptyState } from '../../ui/EmptyState';
import { useAfter, useSignal, useValue } from '../../common/hooks';
import { ENABLE_COMMAND } from '../../jobs/ConnectionBanner';
import { ILaunchActions } from '../parts/context';
import { ILaunchFormHandle, LaunchForm } from './LaunchForm';

/** Properties of the content of a launch tab. */
interface ILaunchViewProps {
  model: LaunchModel;
  store: LaunchStore;
  actions: ILaunchActions;
  editors: IEditorServices;
  trans: TranslationBundle;
  /** Prefix of the ids of the tab's elements. */
  prefix: string;
  /** Receives the form's actions while the form is shown. */
  handle: React.Ref<ILaunchFormHandle>;
}

/** Content of a launch tab. */
export function LaunchView(props: ILaunchViewProps): React.JSX.Element {
  const { model } = props;
  const isFilled = useValue(model.changed, () => model.state.form !== null);
  return isFilled ? <LaunchForm {...props} /> : <Unfilled {...props} />;
}

/** Content of a launch tab before the form is filled. */
function Unfilled({
  model,
  trans,
  actions
}: ILaunchViewProps): React.JSX.Element {
  useSignal(model.changed);
  const { failure } = model.state;
  const path = model.state.path ?? model.manifest?.path ?? null;
  const { name } = model;
  const choose = async () => {
    const chosen = await actions.chooseFile();
    if (chosen !== null) {
      await model.openFor(chosen);
    }
  };
  return failure ? (
    <Failure
      failure={failure}
      name={name}
      trans={trans}
      onRetry={() => void model.open()}
      onOpen={path === null ? null : () => actions.openFile(path, failure.line)}
      onChoose={() => void choose()}
      onCorrect={model.pasted === null ? null : () => actions.correctManifest()}
    />
  ) : (
    <Loading text={trans.__('Reading %1…', name)} />
  );
}

/** Loading text, shown after 400 ms so that a fast answer does not flash it. */
function Loading({ text }: { text: string }): React.JSX.Element {
  const late = useAfter(true, 400);
  return (
    <div className="jp-t9k-Launch-loading jp-t9k-secondary" role="status">
      {late && text}
    </div>
  );
}

/** Error of the request for the form, with the actions that may help. */
function Failure({
  failure,
  name,
  trans,
  onRetry,
  onOpen,
  onChoose,
  onCorrect
}: {
  failure: ApiError;
  name: string;
  trans: TranslationBundle;
  onRetry: () => void;
  onOpen: (() => void) | null;
  onChoose: () => void;
  onCorrect: (() => void) | null;
}): React.JSX.Element {
  return (
    <EmptyState
      icon={errorIcon}
      title={failure.message}
      actions={
        <>
          {failure.status === 422 && onCorrect ? (
            <Button kind="primary" onClick={onCorrect}>
              {trans.__('Correct it…')}
            </Button>
          ) : (
            <Button kind="primary" onClick={onRetry}>
              {trans.__('Try again')}
            </Button>
          )}
          {!failure.serverPartMissing && (
            <Button onClick={onChoose}>{trans.__('Choose a file…')}</Button>
          )}
          {failure.status === 422 && onOpen && (
            <Button onClick={onOpen}>{trans.__('Open %1', name)}</Button>
          )}
        </>
      }
    >
      {failure.serverPartMissing ? (
        <p>
          {trans.__('Run this command in a terminal and restart Jupyter:')}{' '}
          <code>{ENABLE_COMMAND}</code>
        </p>
      ) : (
        failure.hint && <p>{failure.hint}</p>
      )}

      {failure.verbatim && <code>{failure.verbatim}</code>}
    </EmptyState>
  );
}
