/** Paths of the lab's file browser as the server of this extension knows them. */
import { Contents } from '@jupyterlab/services';
import { TranslationBundle } from '@jupyterlab/translation';
import { ApiError } from '../api/client';

/**
 * Drives whose paths are those of the contents root: the default one, and that of jupyter-collaboration up to
 * version 3 (`YDrive`), whose files are the same ones. Newer versions use the default drive.
 */
const LOCAL_DRIVES = ['', 'RTC'];

/** A path without its drive: `RTC:train.py` is `train.py`; null if the file is not below the contents root. */
export function localPath(
  contents: Contents.IManager,
  path: string
): string | null {
  return LOCAL_DRIVES.includes(contents.driveName(path))
    ? contents.localPath(path)
    : null;
}

/** Why a file or folder of another drive can't be used. */
export function otherDrive(
  contents: Contents.IManager,
  path: string,
  trans: TranslationBundle
): ApiError {
  const drive = contents.driveName(path);
  return new ApiError(0, {
    message: trans.__('%1 is on the drive “%2”.', path, drive),
    code: 'OtherDrive',
    hint: trans.__(
      'The server sees only files below the lab’s own root folder. Copy it there first.'
    )
  });
}
