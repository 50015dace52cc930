/** The launch tab for a job in a cluster, without one: fields, manifest, refusals, keys. */
import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import type { Locator } from '@playwright/test';
import { expectAccessible, tabOrder } from './helpers/accessible';
import { FakeCluster, clusterEngines, fakeCheck } from './helpers/fakeCluster';
import { FakeServer } from './helpers/fakeServer';
import { expect, mainArea, run, setMainWidth, writeFile } from './helpers/lab';
import { picture } from './helpers/pictures';
import { enter, test } from './helpers/samePage';
import { SILENT } from './helpers/scripts';

test.use({ autoGoto: false });

const GROUPS = ['Where', 'Data', 'Lifecycle', 'TensorBoard'];

/** A form of a T9k job; its groups as they are at first. */
async function open(
  page: IJupyterLabPageFixture,
  cluster: FakeCluster,
  folder: string
): Promise<Locator> {
  await FakeServer.of(page).tell({ engines: clusterEngines() });
  await cluster.serve(page);
  await enter(page);
  const file = `${folder}/finetune.py`;
  await writeFile(page, file, SILENT);
  await run(page, 't9kjob:launch', { path: file });
  const form = page.getByRole('form', { name: 'Run finetune.py' });
  await expect(form.getByRole('status').last()).toContainText(
    '2 nodes × 4 GPUs'
  );
  return form;
}

/** The text of the manifest that is in view. */
function manifest(form: Locator): Locator {
  return form.getByRole('textbox', { name: 'Manifest as YAML' });
}

async function openGroups(form: Locator): Promise<void> {
  for (const name of GROUPS) {
    await form.getByRole('button', { name: new RegExp(`^${name}\\b`) }).click();
  }
}

test('a T9k form is filled in, and folds to what is inside', async ({
  page,
  tmpPath
}) => {
  const cluster = new FakeCluster();
  const form = await open(page, cluster, tmpPath);
  await expect(form.getByRole('radio', { name: 'T9k · demo' })).toBeChecked();
  await expect(
    form.getByRole('radiogroup', { name: 'Where the job runs' })
  ).toHaveAccessibleDescription(/^Trains as a PyTorchTrainingJob/);
  await expect(form.getByLabel('Kernel')).toHaveCount(0);
  for (const summary of [
    'demo · queue default, priority 10 · image t9kpublic/pytorch-2.6.0:sdk-0.6.0 · user 1000:1000',
    'PVC workspace at /t9k/mnt, PVC hf-cache at /cache (read only)',
    'At most 3 restarts · no deadline · keeps finished pods'
  ]) {
    await expect(form.getByText(summary)).toBeVisible();
  }
  await expect(manifest(form)).toContainText('kind: PyTorchTrainingJob');
  await picture(page, 'launch-t9k');

  await test.step('an edit is marked on both sides', async () => {
    await form.getByRole('spinbutton', { name: 'Nodes' }).fill('3');
    const line = form.locator('.cm-line[data-mark="edited"]');
    await expect(line).toHaveText(/replicas: 3/);
    await expect(line).toBeInViewport();
    await expect(form.locator('.jp-t9k-Launch-row[data-edited]')).toContainText(
      'Nodes'
    );
  });

  await test.step('an engine that is off says why', async () => {
    const others = form.getByRole('button', {
      name: '1 engine that can’t be used'
    });
    await others.click();
    await expect(
      form.getByText('The cluster has no PyTorchJob of kubeflow.org/v1.')
    ).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(others).toBeFocused();
    await expect(others).toHaveAttribute('aria-expanded', 'false');
  });
});

test('every field of a T9k form, by keyboard, with labels and contrast', async ({
  page,
  tmpPath
}) => {
  await page.setViewportSize({ width: 1400, height: 1960 });
  const form = await open(page, new FakeCluster(), tmpPath);
  await openGroups(form);
  for (const fold of [
    'Image pull settings',
    'User and security',
    'Placement'
  ]) {
    await form.getByRole('button', { name: new RegExp(`^${fold}`) }).click();
  }
  await expect(
    form.getByText('in this lab at /t9k/mnt · 100Gi · ReadWriteMany')
  ).toBeVisible();
  const ttl = form.getByLabel('Delete after');
  await expect(ttl).toBeDisabled();
  await expect(ttl).toHaveAccessibleDescription(/T9k has no time to live/);
  await picture(page, 'launch-t9k-all-fields');
  await expectAccessible(page);

  const order = await tabOrder(
    page,
    form,
    form.getByRole('radio', { name: 'T9k · demo' })
  );
  const wanted = [
    'T9k · demo',
    'What',
    'Name',
    'Secret of HF_TOKEN',
    'Add label',
    'Nodes',
    'GPUs on each node',
    'One for each GPU',
    'CPU',
    'Memory',
    'Shared memory',
    'Where',
    'Namespace',
    'Queue',
    'Priority',
    'Image',
    'Pull',
    'User and security',
    'Scheduler',
    'Data',
    'Volume (PVC)',
    'Lifecycle',
    'Restart',
    'When finished',
    'TensorBoard',
    'Log directory',
    'Manifest as YAML',
    'Dry run',
    'Submit'
  ];
  expect(
    wanted.filter(name => !order.some(reached => reached.startsWith(name))),
    `not reached; the order is ${order.join(', ')}`
  ).toEqual([]);
});

test('choices of a field are offered, all of them when it is opened', async ({
  page,
  tmpPath
}) => {
  const form = await open(page, new FakeCluster(), tmpPath);
  await form.getByRole('button', { name: /^Data/ }).click();
  await form.getByRole('button', { name: 'Add volume' }).click();
  const claim = form.getByRole('combobox', { name: 'Volume (PVC)' }).last();
  await expect(claim).toBeFocused();
  await page.keyboard.press('ArrowDown');
  const choices = form.getByRole('listbox', { name: 'Choices' });
  await expect(choices.getByRole('option')).toHaveText([
    /^workspacein this lab at/,
    /^hf-cache/
  ]);
  await page.keyboard.press('Escape');
  await expect(choices).toBeHidden();
  await expect(form, 'Escape discards no form').toBeVisible();
  await claim.fill('hf');
  await expect(choices.getByRole('option')).toHaveText([/^hf-cache/]);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(claim).toHaveValue('hf-cache');
  await expect(
    form.getByRole('textbox', { name: 'Path in the job' }).last()
  ).toHaveValue('/hf-cache');
  await expect(manifest(form)).toContainText('mountPath: /hf-cache');
});

test('another engine takes along what it can, and says what it can’t', async ({
  page,
  tmpPath
}) => {
  const form = await open(page, new FakeCluster(), tmpPath);
  await form.getByLabel('Name', { exact: true }).fill('mine');
  await form.getByRole('radio', { name: 'This machine' }).click();
  await expect(
    form.getByText(/This machine has no queues; jobs that need GPUs wait/)
  ).toBeVisible();
  await expect(form.getByLabel('Name', { exact: true })).toHaveValue('mine');
  await expect(form.getByLabel('Kernel')).toBeVisible();
  await expect(form.getByRole('button', { name: /^Where/ })).toHaveCount(0);
  await picture(page, 'launch-crossed');
  await form.getByRole('button', { name: 'Dismiss' }).click();
  await expect(form.getByText(/This machine has no queues/)).toBeHidden();

  await form.getByRole('radio', { name: /^T9k/ }).click();
  await expect(
    form.getByText(/queue default, priority 10/).first()
  ).toBeVisible();
  await expect(form.getByLabel('Name', { exact: true })).toHaveValue('mine');
});

test('the manifest is edited in place of the form, and back', async ({
  page,
  tmpPath
}) => {
  const cluster = new FakeCluster();
  const form = await open(page, cluster, tmpPath);
  const text = manifest(form);
  await form.getByRole('button', { name: 'Edit as YAML' }).click();
  await expect(form.getByText('The form is locked.')).toBeVisible();
  await expect(form.getByLabel('Name', { exact: true })).toBeDisabled();
  await expect(
    form.getByRole('radio', { name: 'This machine' })
  ).toHaveAttribute('aria-disabled', 'true');

  await test.step('what is wrong is marked, listed, and led to', async () => {
    await text.press('Control+End');
    await page.keyboard.type('# note');
    await replaceLine(form, 'workingDir:', 'workdir: /x');
    const wrong = form.locator('.cm-line[data-mark="error"]');
    await expect(wrong).toContainText('workdir: /x');
    await expect(
      form.locator('.cm-lineNumbers .jp-t9k-mod-error')
    ).toBeInViewport();
    const footer = form.getByRole('status').last();
    await expect(footer).toContainText(/1 error to fix: line \d+/);
    await expect(
      form.getByText('Did you mean workingDir?').first()
    ).toBeVisible();
    await picture(page, 'launch-yaml-error');
    await form.getByRole('button', { name: 'Submit' }).press('Enter');
    await expect(text).toBeFocused();
    expect(cluster.created).toEqual([]);
    await replaceLine(form, 'workdir:', 'workingDir: /x');
    await expect(wrong).toHaveCount(0);
  });
  await picture(page, 'launch-yaml');
  await expectAccessible(page);

  await test.step('Ctrl Space lists fields, F1 explains them', async () => {
    await text.press('Control+Home'); // only the visible lines are in the page
    await form.locator('.cm-line', { hasText: /^spec:/ }).click();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Control+Space');
    const list = page.getByRole('listbox');
    await expect(list.getByRole('option', { name: /^elastic/ })).toBeVisible();
    await expect(text).toHaveAttribute('aria-activedescendant', /./);
    await picture(page, 'launch-yaml-fields');
    await page.keyboard.type('ela');
    await expect(list.getByRole('option')).toHaveCount(1);
    await page.keyboard.press('Enter');
    await expect(text).toContainText('elastic:');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('End');
    await page.keyboard.press('F1');
    const explained = page.getByRole('tooltip');
    await expect(explained).toContainText('spec.elastic object');
    await expect(explained).toContainText('Lets the number of replicas change');
    await picture(page, 'launch-yaml-explained');
    await page.keyboard.press('Escape');
    await expect(explained).toBeHidden();
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+End');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Shift+Home');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Backspace');
    await expect(text).not.toContainText('elastic');
  });

  await test.step('Press Escape, then Tab to leave the editor', async () => {
    await text.focus();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    await expect(text).not.toBeFocused();
  });

  await test.step('it is submitted as edited; Ctrl+Enter adds no line', async () => {
    await text.press('Control+Enter');
    await expect.poll(() => cluster.created.length).toBe(1);
    expect(cluster.created[0].manifest).not.toMatch(/\n\s*\n/);
    expect(cluster.created[0].manifest).toContain('workingDir: /x');
    expect(cluster.created[0].manifest).toContain('# note');
  });

  await test.step('going back says what is lost', async () => {
    await replaceLine(form, 'replicas:', 'replicas: 5');
    cluster.lost = [
      fakeCheck('warning', 'The form has no field for spec.foo.')
    ];
    const back = form.getByRole('button', { name: 'Back to form' }).last();
    await back.click();
    const dialog = page.getByRole('dialog', { name: 'Go back to the form?' });
    await expect(dialog).toContainText('The form has no field for spec.foo.');
    await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeFocused();
    await picture(page, 'launch-yaml-lost');
    await page.keyboard.press('Escape');
    await expect(form.getByText('The form is locked.')).toBeVisible();
    await back.click();
    await dialog.getByRole('button', { name: 'Back to form' }).click();
    await expect(form.getByText('The form is locked.')).toBeHidden();
    await expect(form.getByRole('spinbutton', { name: 'Nodes' })).toHaveValue(
      '5'
    );
  });
});

test('what the cluster refuses is said at the field, in its own words as well', async ({
  page,
  tmpPath
}) => {
  const cluster = new FakeCluster();
  const form = await open(page, cluster, tmpPath);
  const words =
    'admission webhook "queue.tensorstack.dev" denied the request: [R001] queue default is not authorized for project demo';
  cluster.refusal = {
    status: 403,
    message: 'The queue “default” does not let you in.',
    hint: 'Choose another queue, or ask its owner.',
    field: '/spec/scheduling/queue',
    verbatim: words
  };
  await form.getByLabel('Name', { exact: true }).press('Control+Enter');
  const queue = form.getByRole('combobox', { name: 'Queue' });
  await expect(queue).toBeFocused();
  await expect(queue).toHaveAttribute('aria-invalid', 'true');
  await expect(queue).toHaveAccessibleDescription(/does not let you in/);
  await expect(form.getByRole('alert')).toContainText(words);
  await picture(page, 'launch-refused');
  await expectAccessible(page);
  await queue.fill('other');
  await expect(form.getByRole('alert')).toHaveCount(0);

  await test.step('an error of the checks sits at its field', async () => {
    const gpus = form.getByRole('spinbutton', { name: 'GPUs on each node' });
    await gpus.fill('16');
    await expect(gpus).toHaveAttribute('aria-invalid', 'true');
    await expect(gpus).toHaveAccessibleDescription(/each has 8/);
    await expect(form.getByRole('button', { name: /^Size/ })).toContainText(
      '1 error'
    );
  });
});

test('narrow: the manifest folds to a line', async ({ page, tmpPath }) => {
  const form = await open(page, new FakeCluster(), tmpPath);
  await page.sidebar.openTab('filebrowser');
  await setMainWidth(page, 560);
  const fold = form.getByRole('button', { name: /^Manifest/ });
  await expect(fold).toHaveAttribute('aria-expanded', 'false');
  await form.getByRole('button', { name: /^What$/ }).click();
  await form.getByRole('button', { name: /^Data/ }).click();
  await picture(page, 'launch-t9k-narrow', { part: mainArea(page) });
  const { scrollWidth, clientWidth } = await form
    .locator('.jp-t9k-Launch-fields')
    .evaluate(({ scrollWidth, clientWidth }) => ({ scrollWidth, clientWidth }));
  expect(scrollWidth).toBe(clientWidth);
  await fold.click();
  await expect(manifest(form)).toBeVisible();
  await expectAccessible(page);
});

test('a file of YAML opens the form with it', async ({ page, tmpPath }) => {
  await FakeServer.of(page).tell({ engines: clusterEngines() });
  const cluster = new FakeCluster();
  await cluster.serve(page);
  await enter(page);
  const good =
    'kind: PyTorchTrainingJob\nmetadata:\n  name: from-file\nspec:\n  replicaSpecs:\n  - replicas: 7\n';
  await writeFile(page, `${tmpPath}/job.yaml`, good);
  await writeFile(page, `${tmpPath}/other.yml`, 'a: 1\nkind: Deployment\n');
  await page.filebrowser.openDirectory(tmpPath);
  await page.filebrowser.refresh();
  const item = page.getByRole('menuitem', { name: 'Run as Distributed Job' });
  const openMenu = (name: RegExp): Promise<void> =>
    page.getByRole('listitem', { name }).click({ button: 'right' });
  // The file is read when it is listed; a menu that is open does not change.
  await expect(async () => {
    await page.keyboard.press('Escape');
    await openMenu(/^Name: job\.yaml/);
    await item.click({ timeout: 4000 });
  }).toPass();
  const form = page.getByRole('form', { name: 'Run job.yaml' });
  await expect(form.getByLabel('Name', { exact: true })).toHaveValue(
    'from-file'
  );
  await expect(form.getByRole('spinbutton', { name: 'Nodes' })).toHaveValue(
    '7'
  );

  await openMenu(/^Name: other\.yml/);
  await expect(
    page.getByRole('menuitem', { name: 'Rename', exact: false }).first()
  ).toBeVisible();
  await expect(item).toBeHidden();
});

test('a manifest is pasted', async ({ page, tmpPath }) => {
  const form = await open(page, new FakeCluster(), tmpPath);
  await form.getByRole('button', { name: /^More about/ }).click();
  await page.getByRole('menuitem', { name: 'Paste a Manifest…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Paste a manifest' });
  const text = dialog.getByRole('textbox', { name: 'Manifest' });
  await expect(text).toBeFocused();
  await page.keyboard.type(
    'kind: PyTorchTrainingJob\nmetadata:\nname: from-elsewhere\n'
  );
  await dialog.getByRole('button', { name: 'Open' }).click();
  await expect(
    page
      .getByRole('form', { name: 'Run pasted manifest' })
      .getByLabel('Name', { exact: true })
  ).toHaveValue('from-elsewhere');
});

/** Write another field in place of one of the manifest. */
async function replaceLine(
  form: Locator,
  field: string,
  line: string
): Promise<void> {
  const found = form.locator('.cm-line', { hasText: field }).first();
  await found.scrollIntoViewIfNeeded();
  await found.click();
  const text = manifest(form);
  await text.press('End');
  // The first press goes to where the line's text begins.
  await text.press('Shift+Home');
  await text.pressSequentially(line);
}
