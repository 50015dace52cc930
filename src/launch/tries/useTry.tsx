/** The form's tries, for the footer's button and the preview's pane. */
import * as React from 'react';
import { LaunchModel } from '../model/launch';
import { useLaunch } from '../parts/context';
import { TryClient } from './client';
import { NotSubmitted, TryModel } from './model';

/** The form's tries, and the request to show them. */
interface ITryContext {
  tries: TryModel;
  /** Number of requests to show the pane; 0 before the first one. */
  shown: number;
  /** Show the pane, and start a try unless one is active. */
  start(): void;
}

const TryContext = React.createContext<ITryContext | null>(null);

/** Return the form's tries. Raises an error outside of a form. */
export function useTry(): ITryContext {
  const context = React.useContext(TryContext);
  if (context === null) {
    throw new Error('A part of the launch form stands outside of it.');
  }
  return context;
}

/** Provides the form's tries. The running one is stopped when the form is closed. */
export function TryProvider({
  children
}: {
  children: React.ReactNode;
}): React.JSX.Element {
  const { model, trans, actions } = useLaunch();
  const [shown, show] = React.useState(0);
  const [tries] = React.useState(
    () => new TryModel(new TryClient(model.serverSettings, trans))
  );
  React.useEffect(() => () => tries.dispose(), [tries]);
  React.useEffect(() => {
    const submit = (): void => {
      const why = whyNotSubmitted(tries, model);
      if (why === null) {
        actions.submit();
      } else {
        tries.refuseToSubmit(why);
      }
    };
    tries.submitWanted.connect(submit);
    return () => {
      tries.submitWanted.disconnect(submit);
    };
  }, [tries, model, actions]);
  const value = React.useMemo(
    () => ({
      tries,
      shown,
      start: () => {
        show(last => last + 1);
        void tries.start(() => model.previewRequest, actions.saveFirst);
      }
    }),
    [tries, shown, model, actions]
  );
  return <TryContext.Provider value={value}>{children}</TryContext.Provider>;
}

/** Return why the job of a form can't be submitted after its try; null if it can. */
function whyNotSubmitted(
  tries: TryModel,
  model: LaunchModel
): NotSubmitted | null {
  if (tries.view?.state !== 'passed') {
    return 'notPassed';
  }
  const isBusy = model.pending !== null || model.state.busy !== null;
  if (isBusy || tries.tried !== JSON.stringify(model.previewRequest)) {
    return 'changed';
  }
  return model.checks.some(({ level }) => level === 'error') ? 'errors' : null;
}

/** Return true if the form's job can be tried on this machine before it is submitted elsewhere. */
export function canTry({
  engines,
  facts,
  form,
  isSweep
}: LaunchModel): boolean {
  const isHere = engines.some(
    engine => engine.available && engine.facts.shares_lab_filesystem
  );
  const { kind } = form.spec.entrypoint;
  return (
    isHere && !facts.shares_lab_filesystem && !isSweep && kind !== 'command'
  );
}
