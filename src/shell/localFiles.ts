/** Conversion of paths in JupyterLab's file browser to paths that the server can read. */
import { Contents } from '@jupyterlab/services';
import { TranslationBundle } from '@jupyterlab/translation';
import { ApiError } from '../api/errors';

/**
 * Drives whose paths are relative to the contents root: the default drive, and the drive of
 * jupyter-collaboration up to version 3 (`YDrive`), which provides the same files. Later versions use the
 * default drive.
 */
const LOCAL_DRIVES = ['', 'RTC'];

/** Return a path without its drive: `train.py` for `RTC:train.py`; null if the drive is not the server's. */
export function localPath(
  contents: Contents.IManager,
  path: string
): string | null {
  return LOCAL_DRIVES.includes(contents.driveName(path))
    ? contents.localPath(path)
    : null;
}

/** Return the error for a file or folder of a drive that the server cannot read. */
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
