/** The form's group “Where”: namespace, queue, image, user and nodes. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { JobSpec } from '../../api/types';
import { LaunchModel } from '../model/launch';
import { Combobox, IChoice } from '../parts/Combobox';
import { useDraft, useLaunch, useModel } from '../parts/context';
import { Row } from '../parts/Row';
import { Group, IFolding } from '../parts/groups/Group';
import { ImageFields } from '../fields/ImageFields';
import { PlacementFields } from '../fields/PlacementFields';
import { QueueField } from '../fields/QueueField';
import { describeUser, SecurityFields } from '../fields/SecurityFields';
import {
  hasTrainingRuntime,
  TrainingRuntimeField
} from '../fields/TrainingRuntimeField';

/** Group “Where”, with the fields that the engine supports. */
export function WhereGroup({
  folding
}: {
  folding: IFolding;
}): React.JSX.Element {
  const { trans } = useLaunch();
  const facts = useModel(model => model.facts);
  const hasQueues = useModel(model => model.offers('queue'));
  const hasImage = useModel(model => model.offersImage);
  const hasRuntime = useModel(hasTrainingRuntime);
  return (
    <Group
      name="where"
      title={trans.__('Where')}
      summary={describeWhere}
      folding={folding}
    >
      {facts.has_namespaces && <NamespaceField />}
      {hasQueues && <QueueField />}
      {hasRuntime && <TrainingRuntimeField />}
      {hasImage && <ImageFields folding={folding} />}
      {facts.has_pods && <SecurityFields folding={folding} />}
      {facts.has_pods && <PlacementFields folding={folding} />}
    </Group>
  );
}

function NamespaceField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const field = '/namespace';
  const namespace = useModel(({ state }) => state.namespace);
  const info = useModel(({ engine }) => engine);
  const draft = useDraft(field);
  const listed = info?.cluster?.rights.list_namespaces;
  const choices = (info?.namespaces ?? []).map((value): IChoice => {
    const isUsual = value === info?.default_namespace;
    return { value, note: isUsual ? trans.__('the lab’s own') : null };
  });
  return (
    <Row
      field={field}
      caption={listed?.supported === false ? listed.reason : null}
    >
      <Combobox
        lazy
        field={field}
        value={draft ?? namespace}
        choices={choices}
        onChange={text => model.setNamespace(text.trim())}
      />
    </Row>
  );
}

/** Return a one-line summary: namespace, queue, image and user. */
function describeWhere(model: LaunchModel, trans: TranslationBundle): string {
  const { spec } = model.form;
  return [
    model.state.namespace,
    describeQueue(spec, trans),
    hasTrainingRuntime(model) ? describeRuntime(spec, trans) : null,
    model.offersImage ? describeImage(model, trans) : null,
    describeUser(spec.security, trans)
  ]
    .filter(Boolean)
    .join(' · ');
}

function describeImage(model: LaunchModel, trans: TranslationBundle): string {
  const { image } = model.form.spec.runtime;
  if (image) {
    return trans.__('image %1', image);
  }
  return hasTrainingRuntime(model)
    ? trans.__('image of the runtime')
    : trans.__('no image yet');
}

function describeRuntime(
  { runtime }: JobSpec,
  trans: TranslationBundle
): string | null {
  return runtime.training_runtime
    ? trans.__('runtime %1', runtime.training_runtime.name)
    : null;
}

function describeQueue(
  { scheduling: { queue, priority } }: JobSpec,
  trans: TranslationBundle
): string | null {
  if (!queue) {
    return null;
  }
  return priority === null
    ? trans.__('queue %1', queue)
    : trans.__('queue %1, priority %2', queue, priority);
}
