/** Field of the training runtime of a job for Kubeflow Trainer. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { JobSpec, RuntimeImage } from '../../api/types';
import { LaunchModel } from '../model/launch';
import { Combobox, IChoice } from '../parts/Combobox';
import { useLaunch, useModel } from '../parts/context';
import { Row } from '../parts/Row';

type TrainingRuntime = NonNullable<JobSpec['runtime']['training_runtime']>;

/** Runtime of a job that names none. */
const USUAL = 'torch-distributed';

const FIELD = '/runtime/training_runtime';

/** Return true if jobs of the form's engine are made from a training runtime, which also gives an image. */
export function hasTrainingRuntime({ engine }: LaunchModel): boolean {
  return engine?.capabilities.training_runtime?.supported ?? false;
}

/** Choice among the training runtimes of the cluster and the namespace, with their images and defaults. */
export function TrainingRuntimeField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const chosen = useModel(({ form }) => form.spec.runtime.training_runtime);
  const namespace = useModel(({ state }) => state.namespace);
  const offered = useModel(now => now.engine?.cluster?.images);
  const runtimes = (offered ?? []).filter(
    each => each.namespace === null || each.namespace === namespace
  );
  const value = chosen ? textOf(chosen, namespace) : '';
  const shown = runtimes.find(each => textOfOffer(each) === (value || USUAL));
  return (
    <Row field={FIELD} caption={shown && describe(shown, trans)}>
      <Combobox
        code
        field={FIELD}
        value={value}
        choices={choicesOf(runtimes, trans)}
        placeholder={USUAL}
        onChange={text => choose(model, runtimeOf(text.trim()), offered ?? [])}
      />
    </Row>
  );
}

/** Return each runtime once; a runtime may have several images. */
function choicesOf(
  runtimes: readonly RuntimeImage[],
  trans: TranslationBundle
): IChoice[] {
  const names = runtimes.map(textOfOffer);
  return runtimes
    .map(each => ({ value: textOfOffer(each), note: describe(each, trans) }))
    .filter(({ value }, index) => names.indexOf(value) === index);
}

/** Return the text of a runtime: its name, for a runtime of the namespace after the namespace and a slash. */
function textOf(runtime: TrainingRuntime, namespace: string): string {
  return runtime.in_namespace ? `${namespace}/${runtime.name}` : runtime.name;
}

function textOfOffer({ runtime, namespace }: RuntimeImage): string {
  const in_namespace = namespace !== null;
  return textOf({ name: runtime, in_namespace }, namespace ?? '');
}

/** Return the runtime that a text means; null for the usual one. */
function runtimeOf(text: string): TrainingRuntime | null {
  const name = text.slice(text.indexOf('/') + 1);
  const in_namespace = name !== text;
  return !name || (name === USUAL && !in_namespace)
    ? null
    : { name, in_namespace };
}

/** Change the runtime. An image that the form has from a runtime goes with it. */
function choose(
  model: LaunchModel,
  training_runtime: TrainingRuntime | null,
  offered: readonly RuntimeImage[]
): void {
  const { runtime } = model.form.spec;
  const before = runtime.training_runtime;
  if (
    before?.name === training_runtime?.name &&
    before?.in_namespace === training_runtime?.in_namespace
  ) {
    return;
  }
  const isOffered = offered.some(({ image }) => image === runtime.image);
  const image = isOffered ? null : runtime.image;
  model.edit({ runtime: { ...runtime, training_runtime, image } }, FIELD);
}

/** Return the image of a runtime, and the numbers of a job that says none. */
function describe(runtime: RuntimeImage, trans: TranslationBundle): string {
  const { framework, image, nodes, processes, gpus } = runtime;
  return [
    framework,
    trans.__('image %1', image),
    nodes && trans._n('%1 node', '%1 nodes', nodes),
    gpus && trans._n('%1 GPU per node', '%1 GPUs per node', gpus),
    processes && trans.__('processes per node: %1', processes)
  ]
    .filter(Boolean)
    .join(' · ');
}
