/** Data flow and artifacts: from a run over the graph to an artifact, its files and back. */
import { execFileSync } from 'child_process';
import path from 'path';
import { expectAccessible } from './helpers/accessible';
import { expect, run, test } from './helpers/lab';
import { picture } from './helpers/pictures';

/** Records the training of two models on one data set, and a report about both. */
const RECORDS = `
import base64, json, pathlib, shutil
from jupyterlab_t9kjob import em

pathlib.Path("report.md").write_text("# EuroSAT test set\\n\\nBest: **vit**.<script>document.title = 'run'</script>\\n")
pathlib.Path("per_class.csv").write_text("class,precision\\nForest,0.9949\\nRiver,0.9901\\n")
header = json.dumps({"head.weight": {"dtype": "F32", "shape": [10, 384], "data_offsets": [0, 15360]}}).encode()
pathlib.Path("model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(15360))
pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
pathlib.Path("confusion.png").write_bytes(base64.b64decode(pixel))

data, gone = em.create_artifact("eurosat-train"), em.create_artifact("eurosat-test")
models = []
for name in ("vit-s16", "resnet50"):
    model = em.create_artifact(name + "-best")
    model.add_file("model.safetensors")
    models.append(model)
    with em.create_run(name=name) as run:
        run.mark_input(data)
        run.mark_output(model)
report = em.create_artifact("report", labels=["final"])
for file in ("report.md", "per_class.csv", "confusion.png"):
    report.add_file(file, "figures/" if file.endswith(".png") else None)
report.add_reference("s3://bucket/predictions.parquet")
with em.create_run(name="evaluate") as run:
    for artifact in (*models, gone):
        run.mark_input(artifact)
    run.mark_output(report)
shutil.rmtree(gone.local)
`;

test('from a run over the data flow to an artifact', async ({
  page,
  tmpPath
}, info) => {
  const root = path.resolve(
    __dirname,
    `../../build/ui/newest-${info.parallelIndex}/root`
  );
  const python = path.join(process.env.T9KJOB_UI_ENV ?? '', 'bin/python');
  execFileSync(python, ['-c', RECORDS], { cwd: path.join(root, tmpPath) });
  const flow = page.locator('.jp-t9k-Flow:visible');
  const box = (name: RegExp) => flow.getByRole('button', { name });

  await test.step('a run shows what it uses and makes', async () => {
    await run(page, 't9kjob:open-experiments', { folder: tmpPath });
    await page.getByRole('button', { name: 'vit-s16', exact: true }).click();
    await page.getByRole('tab', { name: 'Data flow' }).click();
    await expect(flow).toContainText('3 runs, 5 artifacts');
    await expect(box(/^Artifact eurosat-test, not found/)).toBeVisible();
    await expectAccessible(page);
  });

  await test.step('the keyboard leads along the lines to an artifact', async () => {
    await box(/^Run vit-s16/).focus();
    await page.keyboard.press('ArrowRight');
    await expect(box(/^Artifact vit-s16-best/)).toBeFocused();
    await page.keyboard.press('Space');
    const details = flow.getByRole('complementary', { name: 'Details' });
    await expect(details).toContainText('model.safetensors');
    await picture(page, 'flow-details');
    await box(/^Artifact vit-s16-best/).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await expect(box(/^Artifact report/)).toBeFocused();
    await page.keyboard.press('Enter');
  });

  await test.step('the artifact shows its files and where it comes from', async () => {
    const view = page.locator('.jp-t9k-ArtifactView:visible');
    await expect(
      view.getByRole('heading', { name: 'report', exact: true })
    ).toBeVisible();
    await expect(view).toContainText('s3://bucket/predictions.parquet');
    await expect(view.getByRole('cell', { name: 'Forest' })).toBeVisible();
    await expect(view.locator('img[alt$="confusion.png"]')).toBeVisible();
    await expect(view.getByText('Best: vit.')).toBeVisible();
    expect(await page.title()).not.toBe('run');
    await expectAccessible(page);
    await picture(page, 'artifact');
    const download = page.waitForEvent('download');
    await view.getByRole('link', { name: 'Download per_class.csv' }).click();
    expect((await download).suggestedFilename()).toBe('per_class.csv');
    const whole = page.waitForEvent('download');
    await view.getByRole('link', { name: 'Download as ZIP' }).click();
    expect((await whole).suggestedFilename()).toMatch(/^report.*\.zip$/);
    for (const name of ['per_class.csv', 'report.md']) {
      const file = view.getByRole('region', { name, exact: true });
      await file.getByRole('radio', { name: 'Text' }).click();
    }
    await expect(
      view.locator('pre', { hasText: 'Forest,0.9949' })
    ).toBeVisible();
    await expect(view.locator('pre', { hasText: 'Best: ' })).toBeVisible();
    await view
      .getByRole('button', { name: 'Compute checksums' })
      .first()
      .click();
    await expect(view.getByText('SHA-256')).toBeVisible();
    await view.getByRole('button', { name: 'vit-s16-best' }).click();
  });

  await test.step('a narrow page has a table and tensors', async () => {
    const view = page.locator('.jp-t9k-ArtifactView:visible');
    await expect(view.getByRole('cell', { name: '10 × 384' })).toBeVisible();
    await page.setViewportSize({ width: 560, height: 900 });
    await view.getByRole('tab', { name: 'Data flow' }).click();
    await expect(flow.getByRole('table')).toContainText('evaluate');
    await picture(page, 'flow-narrow');
  });

  await test.step('an artifact is deleted, and its runs say so', async () => {
    await page.setViewportSize({ width: 1400, height: 900 });
    const view = page.locator('.jp-t9k-ArtifactView:visible');
    await view.getByRole('button', { name: 'Archive' }).click();
    await expect(view.getByText('archived', { exact: true })).toBeVisible();
    await view.getByRole('button', { name: 'Restore' }).click();
    await expect(view.getByText('archived', { exact: true })).toHaveCount(0);
    await view.getByRole('button', { name: 'Delete…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete vit-s16-best?' });
    await expect(dialog).toContainText('.em/artifacts/vit-s16-best');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    const tab = (name: RegExp) =>
      page.locator('#jp-main-dock-panel .lm-TabBar-tab', { hasText: name });
    await expect(tab(/^vit-s16-best$/)).toHaveCount(0);
    await tab(/^vit-s16$/).click();
    await flow.getByRole('button', { name: 'Refresh' }).click();
    await expect(box(/^Artifact vit-s16-best, not found/)).toBeVisible();
  });
});
