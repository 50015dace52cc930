/** Fields of the job's image. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { JobSpec } from '../../api/types';
import { LaunchModel } from '../model/launch';
import { Combobox, IChoice } from '../parts/Combobox';
import { useLaunch, useModel } from '../parts/context';
import { imagesOf } from '../content/presets';
import { Row, useField } from '../parts/Row';
import { Select } from '../parts/choices';
import { TextField } from '../parts/TextField';
import { Fold } from '../parts/groups/Fold';
import { IFolding } from '../parts/groups/Group';
import { hasTrainingRuntime } from './TrainingRuntimeField';

type Runtime = JobSpec['runtime'];
type PullPolicy = NonNullable<Runtime['pull_policy']>;

/** Field of the image, and the fold “Image pull settings”. */
export function ImageFields({
  folding
}: {
  folding: IFolding;
}): React.JSX.Element {
  const { trans } = useLaunch();
  return (
    <>
      <ImageField />
      <Fold
        name="image"
        title={trans.__('Image pull settings')}
        summary={({ form }) => describePull(form.spec.runtime, trans)}
        folding={folding}
      >
        <PullFields />
      </Fold>
    </>
  );
}

function ImageField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const field = '/runtime/image';
  const image = useModel(({ form }) => form.spec.runtime.image ?? '');
  const choices = useModel(now => imagesFor(now, trans));
  const ofRuntime = useModel(hasTrainingRuntime);
  const note = choices.find(({ value }) => value === image)?.note;
  return (
    <Row field={field} caption={note}>
      <Combobox
        code
        field={field}
        value={image}
        choices={choices}
        placeholder={
          ofRuntime
            ? trans.__('the image of the training runtime')
            : trans.__('an image with PyTorch')
        }
        onChange={text => edit(model, { image: text.trim() || null }, field)}
      />
    </Row>
  );
}

/**
 * Change the runtime of the job.
 *
 * @param field - Name of the edited field.
 */
function edit(
  model: LaunchModel,
  changes: Partial<Runtime>,
  field: string
): void {
  model.edit({ runtime: { ...model.form.spec.runtime, ...changes } }, field);
}

/** Pull policy and pull secrets of the image. */
function PullFields(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const [policy, secrets] = ['/runtime/pull_policy', '/runtime/pull_secrets'];
  const chosen = useModel(({ form }) => form.spec.runtime.pull_policy);
  const named = useModel(({ form }) => form.spec.runtime.pull_secrets);
  const policies: Record<PullPolicy, string> = {
    IfNotPresent: trans.__('If a node does not have it (IfNotPresent)'),
    Always: trans.__('Always'),
    Never: trans.__('Never')
  };
  const [typed, setTyped] = React.useState<string | null>(null);
  return (
    <>
      <Row field={policy}>
        <Select
          {...useField(policy)}
          value={chosen ?? ''}
          onChange={event => {
            const pull_policy = (event.target.value || null) as PullPolicy;
            edit(model, { pull_policy }, policy);
          }}
        >
          <option value="">{trans.__('Default of the cluster')}</option>
          {Object.entries(policies).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </Select>
      </Row>
      <Row
        field={secrets}
        caption={trans.__(
          'Names of secrets of the namespace, for a private registry; their values stay in the cluster.'
        )}
      >
        <TextField
          code
          field={secrets}
          value={typed ?? named.join(', ')}
          placeholder={trans.__('none')}
          onChange={text => {
            setTyped(text);
            const names = text.split(/[\s,]+/).filter(Boolean);
            edit(model, { pull_secrets: names }, secrets);
          }}
          onBlur={() => setTyped(null)}
        />
      </Row>
    </>
  );
}

/** Return the images to choose from without duplicates: of the lab, earlier jobs, presets, training runtimes, settings. */
function imagesFor(model: LaunchModel, trans: TranslationBundle): IChoice[] {
  const own = model.engine?.cluster?.image;
  const { namespace } = model.state;
  const offered = (model.engine?.cluster?.images ?? []).filter(
    each => each.namespace === null || each.namespace === namespace
  );
  const all: IChoice[] = [
    ...(own ? [{ value: own, note: trans.__('the image of this lab') }] : []),
    ...model.state.images.map((value, index) => ({
      value,
      note: index === 0 ? trans.__('used last') : trans.__('used before')
    })),
    ...imagesOf(model.presets.list.presets).map(value => ({
      value,
      note: trans.__('from a preset')
    })),
    ...offered.map(({ image, runtime }) => ({
      value: image,
      note: trans.__('of the cluster’s training runtime %1', runtime)
    })),
    ...model.presetImages.map(value => ({
      value,
      note: trans.__('from the settings')
    }))
  ];
  return all.filter(
    ({ value }, index) =>
      all.findIndex(other => other.value === value) === index
  );
}

/** Return a one-line summary of the pull settings. */
function describePull(runtime: Runtime, trans: TranslationBundle): string {
  const { pull_policy, pull_secrets } = runtime;
  return [
    pull_policy ?? trans.__('by default'),
    pull_secrets.length
      ? trans._n('%1 secret', '%1 secrets', pull_secrets.length)
      : trans.__('no secrets')
  ].join(' · ');
}
