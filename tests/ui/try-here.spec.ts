/** A try on this machine from the form of a cluster: the cluster is a fake, the try itself is real. */
import type { TryRequest } from '../../src/api/types';
import { expectAccessible } from './helpers/accessible';
import { clusterEngines, FakeCluster } from './helpers/fakeCluster';
import { FakeServer } from './helpers/fakeServer';
import {
  absolute,
  expect,
  run,
  setMainWidth,
  test,
  writeFile
} from './helpers/lab';
import { picture } from './helpers/pictures';

test.use({ autoGoto: false });

const FAILS = `import torch.distributed as dist
dist.init_process_group("gloo")
print("step 1/100 loss: 2.41", flush=True)
dist.barrier()
if dist.get_rank() == 1:
    open("data/EuroSAT_RGB")
dist.barrier()
`;
/** Pauses between its steps until a file lets it go on, so that the page shows how far it is. */
const RUNS = `import pathlib
import time
import torch.distributed as dist
dist.init_process_group("gloo")
for step in range(1, 1000):
    print(f"step {step}/1000 loss: {2 / step:.3f}", flush=True)
    dist.barrier()
    time.sleep(0.25)
    while step == 5 and not pathlib.Path(__file__).with_name("go").exists():
        time.sleep(0.1)
`;

test('a job for a cluster is tried here first: an error, then a pass', async ({
  page,
  tmpPath
}) => {
  const file = `${tmpPath}/finetune.py`;
  await new FakeServer(page).tell({ engines: clusterEngines() });
  await new FakeCluster().serve(page);
  await page.goto('?reset');
  await writeFile(page, file, FAILS);
  const value = await absolute(page, file);
  // The server has no such cluster: it tries the same script as a job of this machine, which may be slow to start it.
  await page.route(/\/t9kjob\/tries\b[^/]*$/, route => {
    const { processes, steps } = route.request().postDataJSON() as TryRequest;
    const spec = { name: 'finetune', entrypoint: { kind: 'script', value } };
    return route.continue({
      postData: JSON.stringify({ spec, processes, steps, seconds: 600 })
    });
  });
  await run(page, 't9kjob:launch', { path: file });
  const form = page.getByRole('form', { name: 'Run finetune.py' });
  const start = form.getByRole('button', { name: 'Try here first' });
  await start.focus();
  await page.keyboard.press('Enter');
  const pane = form.getByRole('region', { name: 'Try here first' });
  const headline = pane.getByRole('heading').first();

  await test.step('the error shows with its line, which opens', async () => {
    await expect(headline).toHaveText('The try failed after 1 step');
    await expect(
      pane.getByText(/^Rank 1 failed with exit code 1: FileNotFoundError/)
    ).toBeVisible();
    await picture(page, 'try-failed');
    await expectAccessible(page);
    await pane.getByRole('button', { name: 'finetune.py, line 6' }).click();
    const editor = page.locator('.jp-FileEditor:visible');
    await expect(editor.getByText('open("data/EuroSAT_RGB")')).toBeVisible();
    await run(page, 't9kjob:launch', { path: file });
  });

  await test.step('the corrected script passes after the steps', async () => {
    await writeFile(page, file, RUNS);
    await pane.getByRole('spinbutton', { name: 'Steps' }).fill('15');
    await pane.getByRole('button', { name: 'Try again' }).click();
    await expect(headline).toHaveText(/: step \d+ of 15$/);
    await expect(pane.getByRole('progressbar')).toBeVisible();
    await picture(page, 'try-running');
    await writeFile(page, `${tmpPath}/go`, '');
    await expect(headline).toHaveText(/^\d+ steps passed here in/);
    await picture(page, 'try-passed');
    await setMainWidth(page, 560);
    await picture(page, 'try-narrow');
    await expect(form.getByRole('button', { name: 'Submit' })).toBeEnabled();
  });
});
