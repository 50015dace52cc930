/** A job's overview with curves and differences, its export as an archive, and the import of the archive. */
import {
  expect,
  jobTab,
  run,
  submit,
  test,
  waitForPhase,
  writeFile
} from './helpers/lab';

const TRAINS = `
for step in range(1, 101):
    print(f"step {step}/100, loss: {1 / step:.4f}", flush=True)
print("the last line")
`;

test('a job is exported, and opened as an archive', async ({ page }) => {
  await writeFile(page, 'mnist_ddp/trains.py', TRAINS);
  const { id } = await submit(page, 'trains', {
    file: 'mnist_ddp/trains.py'
  });
  await waitForPhase(page, id, 'Succeeded');
  await run(page, 't9kjob:open-job', { id });
  const job = jobTab(page);

  await test.step('header and overview have the curve of the loss', async () => {
    const curve = job.getByRole('img', { name: /^loss: first value 1, last/ });
    await expect(curve).toBeVisible();
    await expect(curve).toHaveCSS('stroke', /^rgb/);
    const small = job.locator('.jp-t9k-JobHeader .jp-t9k-Curve');
    await expect(small).toBeVisible();
    await expect(small).toHaveCSS('stroke', /^rgb/);
  });

  let data = Buffer.alloc(0);
  await test.step('the overview exports the job', async () => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      job.getByRole('button', { name: 'Export the job' }).click()
    ]);
    expect(download.suggestedFilename()).toBe('trains.t9kjob.zip');
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) {
      chunks.push(chunk as Buffer);
    }
    data = Buffer.concat(chunks);
  });

  await test.step('the file browser opens the archive as a job that can’t be changed', async () => {
    await page.evaluate(
      async ([path, content]) => {
        await window.jupyterapp.serviceManager.contents.save(path, {
          type: 'file',
          format: 'base64',
          content
        });
      },
      ['mnist_ddp/trains.t9kjob.zip', data.toString('base64')] as const
    );
    await page.filebrowser.refresh();
    await page
      .getByRole('listitem', { name: /trains\.t9kjob\.zip/ })
      .click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Open as Job Archive' }).click();
    const imported = page.locator('.jp-t9k-JobView:visible');
    await expect(imported.locator('.jp-t9k-JobHeader-facts')).toContainText(
      'Imported'
    );
    await expect(imported.getByRole('button', { name: 'Stop' })).toHaveCount(0);
    await imported.getByRole('tab', { name: 'Logs' }).click();
    await expect(imported.getByText('the last line')).toBeVisible();
  });

  await test.step('another file is refused in words', async () => {
    await run(page, 't9kjob:import-job', { path: 'mnist_ddp/trains.py' });
    await expect(
      page.getByText('The file is damaged, or no ZIP file.')
    ).toBeVisible();
  });
});
