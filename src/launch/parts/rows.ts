/** The file with the values of a sweep's jobs. */
import { LaunchModel } from '../model/launch';
import { ILaunchActions } from './context';

/** Let the user choose the file of rows. */
export async function chooseRows(
  model: LaunchModel,
  actions: ILaunchActions
): Promise<void> {
  const rowsPath = await actions.chooseRows();
  if (rowsPath !== null) {
    model.setSweep({ rowsPath, leftOut: [] }, '/sweep/rows_path');
  }
}
