import { spawn } from 'child_process';
import path from 'path';
import { createInterface } from 'readline';

/** A place in a cluster that a test has for itself. */
export interface IClusterPlace {
  namespace: string;
  kubeconfig: string;
  /** Of an account that has the documented Role in the namespace, and no right elsewhere. */
  little: string;
  /** A PVC, and its folder on this machine. */
  claim: string;
  folder: string;
  /** An image with torch. */
  image: string;
  /** Remove all of it. */
  leave(): Promise<void>;
}

/** Make a namespace with a volume and a quota in the cluster of KUBECONFIG, and see that PyTorchTrainingJobs have a controller. */
export async function enterCluster(): Promise<IClusterPlace> {
  const process_ = spawn(
    path.join(process.env.T9KJOB_UI_ENV ?? '', 'bin/python'),
    ['-m', 'tests.ui.helpers.cluster'],
    {
      cwd: path.resolve(__dirname, '../../..'),
      stdio: ['pipe', 'pipe', 'inherit']
    }
  );
  const ended = new Promise<void>(resolve =>
    process_.once('exit', () => resolve())
  );
  const line = await Promise.race([
    new Promise<string>(resolve =>
      createInterface(process_.stdout).once('line', resolve)
    ),
    ended
  ]);
  if (line === undefined) {
    throw new Error('no place in the cluster was made; see above');
  }
  return {
    ...JSON.parse(line),
    leave: async () => {
      process_.stdin.end();
      await ended;
    }
  };
}
