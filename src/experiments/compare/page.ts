/** Entry of the chunk that is loaded when the first comparison is opened. */
import { loadLook, saveLook } from '../charts/kept';
import { ExperimentsClient } from '../client';
import { CreatePage } from '../host';
import { labAround } from '../run/labAround';
import { CompareModel } from './model';
import { CompareWidget } from './widget';

const LOOK_KEY = 'jupyterlab_t9kjob:comparison-charts';

/** Create the content of a comparison's tab. */
export const createComparisonPage: CreatePage = async ({ ids }, lab) => {
  const { jobs, stateDB, trans } = lab;
  const model = new CompareModel({
    client: new ExperimentsClient(jobs.api.serverSettings, trans),
    ids: [...new Set(ids)],
    look: await loadLook(stateDB, LOOK_KEY, 0),
    saveLook: look => saveLook(stateDB, LOOK_KEY, look)
  });
  return new CompareWidget(model, labAround(lab), trans);
};
