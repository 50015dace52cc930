import { StateDB } from '@jupyterlab/statedb';
import { fireEvent, screen } from '@testing-library/react';
import { JobSpec } from '../../../src/api/types';
import { ISavedTab, LaunchStore } from '../../../src/launch/model/store';
import { launchModel, LaunchServer } from '../launchFakes';
import { drawLaunch, layOut } from '../launchView';

describe('the diagnostics', () => {
  it('are off in a tab that an older version saved without them', async () => {
    layOut(1200);
    const db = new StateDB();
    const server = new LaunchServer();
    const older = launchModel(server, { db, tab: 'tab' });
    await older.open();
    await older.save();
    older.dispose();
    const store = new LaunchStore(db);
    const saved = (await store.tab('tab')) as ISavedTab;
    const spec: Partial<JobSpec> = { ...saved.form.spec };
    delete spec.diagnostics;
    const form = { ...saved.form, spec: spec as JobSpec };
    await store.saveTab('tab', { ...saved, form, spec: form.spec });

    const model = launchModel(server, { db, tab: 'tab' });
    await model.open();
    expect(model.form.spec.diagnostics).toBeUndefined();
    await drawLaunch(model, db);
    fireEvent.click(screen.getByRole('button', { name: /^Lifecycle/ }));
    const box = screen.getByRole<HTMLInputElement>('checkbox', {
      name: /^Stacks on a signal/
    });
    expect(box.checked).toBe(false);
    fireEvent.click(box);
    expect(model.spec.diagnostics).toEqual({
      stacks: true,
      collectives: false
    });
    model.dispose();
  });
});
