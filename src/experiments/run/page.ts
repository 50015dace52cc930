/** Entry of the chunk that is loaded when the first page of a run is opened. */
import { loadLook, saveLook } from '../charts/kept';
import { ExperimentsClient } from '../client';
import { CreatePage } from '../host';
import { labAround } from './labAround';
import { RunModel } from './model/run';
import { RunWidget } from './widget';

const LOOK_KEY = 'jupyterlab_t9kjob:run-charts';
/** Smoothing of a page that was never changed. */
const SMOOTHING = 0.6;

/** Create the content of a run's tab. */
export const createRunPage: CreatePage = async ({ ids }, lab) => {
  const { jobs, stateDB, trans } = lab;
  const model = new RunModel({
    client: new ExperimentsClient(jobs.api.serverSettings, trans),
    id: ids[0] ?? '',
    look: await loadLook(stateDB, LOOK_KEY, SMOOTHING),
    saveLook: look => saveLook(stateDB, LOOK_KEY, look)
  });
  return new RunWidget(model, labAround(lab), trans);
};
