import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { JobSpec } from '../../api/types';
import { Combobox, IChoice } from './Combobox';
import { useLaunch } from './context';
import { Row, Select, TextField, useField } from './fields';
import { Fold } from './Fold';
import { IFolding } from './Group';

type Runtime = JobSpec['runtime'];
type PullPolicy = NonNullable<Runtime['pull_policy']>;

/** The image that has Python and torch, and how it is pulled. */
export function ImageFields({
  folding
}: {
  folding: IFolding;
}): React.JSX.Element {
  const { model, trans } = useLaunch();
  const field = '/runtime/image';
  const { runtime } = model.form.spec;
  const choices = useImages();
  const note = choices.find(({ value }) => value === runtime.image)?.note;
  const edit = (changes: Partial<Runtime>, where: string) =>
    model.edit({ runtime: { ...runtime, ...changes } }, where);
  return (
    <>
      <Row field={field} caption={note}>
        <Combobox
          code
          field={field}
          value={runtime.image ?? ''}
          choices={choices}
          placeholder={trans.__('an image that has PyTorch')}
          onChange={text => edit({ image: text.trim() || null }, field)}
        />
      </Row>
      <Fold
        name="image"
        title={trans.__('How it is pulled')}
        summary={describePull(runtime, trans)}
        folding={folding}
      >
        <PullFields runtime={runtime} onChange={edit} />
      </Fold>
    </>
  );
}

function PullFields({
  runtime,
  onChange
}: {
  runtime: Runtime;
  onChange(changes: Partial<Runtime>, field: string): void;
}): React.JSX.Element {
  const { trans } = useLaunch();
  const [policy, secrets] = ['/runtime/pull_policy', '/runtime/pull_secrets'];
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
          value={runtime.pull_policy ?? ''}
          onChange={event => {
            const pull_policy = (event.target.value || null) as PullPolicy;
            onChange({ pull_policy }, policy);
          }}
        >
          <option value="">{trans.__('As the cluster does by default')}</option>
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
          value={typed ?? runtime.pull_secrets.join(', ')}
          placeholder={trans.__('none')}
          onChange={text => {
            setTyped(text);
            const names = text.split(/[\s,]+/).filter(Boolean);
            onChange({ pull_secrets: names }, secrets);
          }}
          onBlur={() => setTyped(null)}
        />
      </Row>
    </>
  );
}

/** The lab's own image, those of earlier jobs, and those of the settings; each once. */
function useImages(): IChoice[] {
  const { model, trans } = useLaunch();
  const own = model.engine?.cluster?.image;
  const all: IChoice[] = [
    ...(own ? [{ value: own, note: trans.__('the image of this lab') }] : []),
    ...model.state.images.map((value, index) => ({
      value,
      note: index === 0 ? trans.__('used last') : trans.__('used before')
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

function describePull(runtime: Runtime, trans: TranslationBundle): string {
  const { pull_policy, pull_secrets } = runtime;
  return [
    pull_policy ?? trans.__('by default'),
    pull_secrets.length
      ? trans._n('%1 secret', '%1 secrets', pull_secrets.length)
      : trans.__('no secrets')
  ].join(' · ');
}
