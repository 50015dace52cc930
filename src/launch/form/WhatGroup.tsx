/** The form's group “What”: name, entrypoint, working directory, kernel, arguments, variables and labels. */
import { folderIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { EntrypointKind, fileKind } from '../content/entrypoints';
import { MORE } from '../content/form';
import { splitWords } from '../../common/shellWords';
import { IconButton } from '../../ui/Buttons';
import { useDraft, useFixed, useLaunch, useModel } from '../parts/context';
import { EnvironmentField } from '../fields/EnvironmentField';
import { PathField, TextField } from '../parts/TextField';
import { Row, useField } from '../parts/Row';
import { Select } from '../parts/choices';
import { Group, IFolding } from '../parts/groups/Group';
import { KernelField } from '../fields/KernelField';
import { OptionFields } from '../fields/OptionFields';
import { PairsField } from '../parts/PairsField';

/** Group “What”. The engine's facts decide whether the kernel and the labels are shown. */
export function WhatGroup({
  folding
}: {
  folding: IFolding;
}): React.JSX.Element {
  const { trans } = useLaunch();
  const facts = useModel(model => model.facts);
  return (
    <Group
      name="what"
      title={trans.__('What')}
      summary={({ spec }) => [spec.name, ...spec.args].join(' ')}
      folding={folding}
    >
      <NameField />
      <EntrypointField />
      <WorkingDirectoryField />
      {facts.runs_in_kernel && <KernelField />}
      <OptionFields />
      <MoreField />
      <EnvironmentField />
      {facts.manifest_kind !== null && <LabelsField />}
    </Group>
  );
}

function NameField(): React.JSX.Element {
  const { model } = useLaunch();
  const field = '/name';
  const name = useModel(({ form }) => form.spec.name);
  const draft = useDraft(field);
  return (
    <Row field={field}>
      <TextField
        field={field}
        value={draft ?? name}
        onChange={text => model.setName(text)}
      />
    </Row>
  );
}

function LabelsField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  return (
    <PairsField
      field="/labels"
      read={({ form }) => form.labels}
      onChange={rows => model.setLabels(rows)}
      add={trans.__('Add label')}
    />
  );
}

/** Kind and value of the entrypoint: a file, a module or a command. */
function EntrypointField(): React.JSX.Element {
  const { model, trans, actions } = useLaunch();
  const { kind, value } = useModel(({ form }) => form.spec.entrypoint);
  const draft = useDraft('/entrypoint/value');
  const path = useModel(({ state }) => state.path);
  const ofFile =
    path !== null
      ? fileKind(path)
      : kind === 'notebook'
        ? 'notebook'
        : 'script';
  const kinds: [EntrypointKind, string][] = [
    ofFile === 'script'
      ? ['script', trans.__('Script')]
      : ['notebook', trans.__('Notebook')],
    ['module', trans.__('Module')],
    ['command', trans.__('Command')]
  ];
  const choose = async () => {
    const chosen = await actions.chooseFile();
    if (chosen !== null) {
      await model.openFor(chosen);
    }
  };
  const isFixed = useFixed('/entrypoint/value') !== null;
  return (
    <Row field="/entrypoint/value" others={['/entrypoint/kind']}>
      <Select
        {...useField('/entrypoint/kind')}
        aria-label={trans.__('Kind of entrypoint')}
        value={kind}
        onChange={event =>
          void model.setKind(event.target.value as EntrypointKind)
        }
      >
        {kinds.map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </Select>
      {kind === ofFile ? (
        <>
          <PathField
            field="/entrypoint/value"
            path={value}
            onChange={file => void model.setEntrypoint(fileKind(file), file)}
          />
          {!isFixed && (
            <IconButton
              icon={folderIcon}
              label={trans.__('Choose a file…')}
              onClick={() => void choose()}
            />
          )}
        </>
      ) : (
        <TextField
          code
          field="/entrypoint/value"
          value={draft ?? value}
          onChange={text => void model.setEntrypoint(kind, text)}
        />
      )}
    </Row>
  );
}

function WorkingDirectoryField(): React.JSX.Element {
  const { model, trans, actions } = useLaunch();
  const root = useModel(({ state }) => state.prefill?.root ?? null);
  const directory = useModel(({ form }) => form.spec.working_dir);
  const choose = async () => {
    const path = await actions.chooseFolder();
    if (path !== null && root !== null) {
      model.setWorkingDir(`${root.replace(/\/$/, '')}/${path}`);
    }
  };
  const isFixed = useFixed('/working_dir') !== null;
  return (
    <Row field="/working_dir">
      <PathField
        field="/working_dir"
        path={directory ?? ''}
        placeholder={
          directory === ''
            ? trans.__('that of the image')
            : trans.__('the folder of the script')
        }
        onChange={path => model.setWorkingDir(path || null)}
      />
      {root !== null && !isFixed && (
        <IconButton
          icon={folderIcon}
          label={trans.__('Choose a folder…')}
          onClick={() => void choose()}
        />
      )}
    </Row>
  );
}

function MoreField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const more = useModel(({ form }) => form.more);
  const words = splitWords(more).words ?? [];
  // Show how the text is split into arguments if it contains quotes or backslashes.
  const quoted = words.length > 0 && /['"\\]/.test(more);
  return (
    <Row
      field={MORE}
      caption={
        quoted && (
          <span className="jp-t9k-Launch-words">
            {trans._n('%1 argument:', '%1 arguments:', words.length)}
            {words.map((word, index) => (
              <code key={index}>{word}</code>
            ))}
          </span>
        )
      }
    >
      <TextField
        code
        field={MORE}
        value={more}
        placeholder={trans.__('added to the end as typed')}
        onChange={text => model.setMore(text)}
      />
    </Row>
  );
}
