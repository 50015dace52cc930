/** Values of metrics as a file. */
import { TranslationBundle } from '@jupyterlab/translation';
import { Notification } from '@jupyterlab/apputils';
import { csvOf, fileName, saveText } from '../../../common/saveFile';
import { ExperimentsClient } from '../../client';
import { RunModel } from './run';

/** Values of one request, and of one file. */
const PAGE = 10_000;
const MOST_VALUES = 1_000_000;

type Row = (string | number | null)[];

/** Save all values of metrics as a CSV file, as they were recorded. */
export async function saveValues(
  model: RunModel,
  metrics: readonly string[],
  trans: TranslationBundle
): Promise<void> {
  const rows: Row[] = [['metric', 'step', 'epoch', 'time', 'value']];
  for (const metric of metrics) {
    await addValues(model.client, model.id, metric, rows);
  }
  if (rows.length > MOST_VALUES) {
    Notification.warning(
      trans.__('The file has the first %1 values.', rows.length - 1)
    );
  }
  const name = [model.row?.name ?? 'run', ...metrics.slice(0, 1)].join('-');
  saveText(csvOf(rows), fileName(name, 'csv'), 'text/csv');
}

async function addValues(
  client: ExperimentsClient,
  id: string,
  metric: string,
  rows: Row[]
): Promise<void> {
  for (let first = 0; rows.length <= MOST_VALUES;) {
    const { points, count } = await client.values(id, metric, {
      first,
      limit: PAGE
    });
    for (const { step, epoch, time, value } of points) {
      rows.push([metric, step, epoch, time, value]);
    }
    first += points.length;
    if (points.length === 0 || first >= count) {
      return;
    }
  }
}
