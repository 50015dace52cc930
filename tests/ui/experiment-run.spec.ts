/** A run's charts and the comparison of runs: real files of the recorder. */
import { execFileSync } from 'child_process';
import path from 'path';
import { expectAccessible } from './helpers/accessible';
import { expect, test } from './helpers/lab';

/** Records two runs; the first one has a value that is no number, and a step that goes back. */
const RECORDS = `
from jupyterlab_t9kjob import em

for name, lr in (("vit", 0.1), ("<img src=x onerror=alert(1)>", 0.01)):
    with em.create_run(name="vit" if lr == 0.1 else "resnet", hparams={"lr": lr, "model": name, "seed": 1}) as run:
        for step in range(100):
            loss = float("nan") if lr == 0.1 and step == 30 else 20 / (step + 1) + lr
            run.log("train", {"loss": loss}, step=step, epoch=step // 10)
        run.log("val", {"accuracy": 0.9 - lr}, step=50, epoch=5)
        run.log("val", {"accuracy": 0.95 - lr}, step=99, epoch=9)
`;

test('a run and a comparison', async ({ page, tmpPath, request }, info) => {
  const root = path.resolve(
    __dirname,
    `../../build/ui/newest-${info.parallelIndex}/root`
  );
  const python = path.join(process.env.T9KJOB_UI_ENV ?? '', 'bin/python');
  const folder = path.join(root, tmpPath, '.em/runs');
  execFileSync(python, ['-c', RECORDS], {
    env: { ...process.env, EM_RUN_PARENT_DIR: folder }
  });
  let ids: string[] = [];
  await expect(async () => {
    const url = `t9kjob/experiments/runs?revision=-1&folder=${tmpPath}`;
    const { runs } = await (await request.get(url)).json();
    ids = (runs as { id: string; name: string }[])
      .sort((a, b) => (a.name < b.name ? 1 : -1))
      .map(({ id }) => id);
    expect(ids).toHaveLength(2);
  }).toPass();
  const open = (kind: string, shown: string[]): Promise<void> =>
    page.evaluate(
      ([name, list]) => {
        void window.jupyterapp.commands.execute('t9kjob:open-experiments', {
          page: name,
          ids: list
        });
      },
      [kind, shown] as const
    );

  await test.step('the charts of a run share a reading line', async () => {
    await open('run', ids.slice(0, 1));
    const loss = page.getByRole('slider', { name: 'Reading line of loss' });
    await expect(loss).toHaveAttribute('aria-valuemax', '99');
    const chart = page.getByRole('region', { name: 'loss', exact: true });
    await expect(chart).toContainText(
      '1 value was not a finite number, step 30: not drawn.'
    );
    await expect(chart).toContainText('log');
    await loss.press('Home');
    await loss.press('ArrowRight');
    await expect(page.getByText('Step 1 · epoch 0')).toBeVisible();
    await expect(loss).toHaveAttribute('aria-valuetext', '1, train: 10.1');
    const accuracy = page.getByRole('slider', { name: 'line of accuracy' });
    await accuracy.press('End');
    await expect(page.getByText(/^Step 99/)).toBeVisible();
    await accuracy.press('Escape');
    await expect(page.getByText(/^Step 99/)).toHaveCount(0);
    await expect(chart).toContainText('0.3');
    await expectAccessible(page);
  });

  await test.step('its values, parameters and files are tables', async () => {
    await page.getByRole('radio', { name: 'Table' }).click();
    const values = page.getByRole('table', { name: 'Values of accuracy' });
    await expect(values).toContainText('0.85');
    await page.getByRole('radio', { name: 'Charts' }).click();
    await page.getByRole('tab', { name: /Parameters/ }).click();
    await expect(page.getByRole('row', { name: 'lr 0.1' })).toBeVisible();
    await expectAccessible(page);
    await page.getByRole('tab', { name: 'Environment' }).click();
    await expectAccessible(page);
    await page.getByRole('tab', { name: /Files/ }).click();
    await expect(page.getByText('metadata.yaml')).toBeVisible();
    await expectAccessible(page);
  });

  await test.step('a comparison shows what differs, and marks the best', async () => {
    await open('comparison', ids);
    const row = (name: string) => page.getByRole('row', { name });
    await expect(row('val.accuracy')).toContainText('0.85best 0.94');
    await expect(row('model')).toContainText('<img src=x onerror=alert(1)>');
    await expect(row('seed')).toHaveCount(0);
    await page.getByLabel('Show equal values too').check();
    await expect(row('seed')).toBeVisible();
    const range = page.getByRole('slider', { name: 'Range of val.accuracy' });
    for (let times = 0; times < 4; times++) {
      await range.press('Shift+ArrowUp');
    }
    await expect(page.getByText('1 of 2 runs')).toBeVisible();
    await expect(range).toHaveAttribute(
      'aria-valuetext',
      /^val\.accuracy >= 0\.8/
    );
    await expectAccessible(page);
    await page.getByRole('radio', { name: 'Scatter' }).click();
    await expect(
      page.getByRole('img', { name: /^val\.accuracy by lr: / })
    ).toBeVisible();
  });
});
