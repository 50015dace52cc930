/** Preview and editor of the job's manifest. */
import { editIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Check } from '../../api/types';
import { Button } from '../../ui/Buttons';
import { ILinePlace, YamlEditor } from '../../ui/editor/YamlEditor';
import { ILineMark } from '../../ui/editor/yamlMarks';
import { CopyButton, StalePreview } from './CommandPane';
import { useLaunch, useModel } from '../parts/context';
import { useYamlAssist } from './useYamlAssist';
import { sentences } from '../../common/format';

/** The manifest of the form, or the manifest that the user edits instead of the form. */
export function ManifestPane({
  place
}: {
  /** Position to reveal. A new object reveals the position again. */
  place: ILinePlace | null;
}): React.JSX.Element {
  const { model, trans, actions, editors, revealLine } = useLaunch();
  const isEdited = useModel(({ state }) => state.manifest !== null);
  const text = useModel(
    ({ state, preview }) =>
      state.manifest?.text ?? preview.shown?.manifest ?? ''
  );
  const kind = /^kind: *(\w+)/m.exec(text)?.[1] ?? '';
  const marks = useModel(({ state, preview, checks }): readonly ILineMark[] =>
    state.manifest
      ? linesFound(checks)
      : [...preview.editedLines].map(line => ({
          line: line + 1,
          kind: 'edited'
        }))
  );
  const assist = useYamlAssist(isEdited);
  const isReading = useModel(({ state }) => state.busy === 'reading');
  const [isLocked, isFrozen] = useModel(now => [now.isLocked, now.isFrozen]);
  return (
    <section
      className="jp-t9k-Launch-command"
      aria-label={trans.__('Manifest')}
    >
      <div className="jp-t9k-Launch-commandHead">
        <h3>
          {trans.__('Manifest')} <span className="jp-t9k-caption">{kind}</span>
        </h3>
        {isEdited ? (
          <Button
            aria-disabled={isFrozen || undefined}
            onClick={() => model.isFrozen || actions.backToForm()}
          >
            {isReading ? trans.__('Reading…') : trans.__('Back to form')}
          </Button>
        ) : (
          <Button
            icon={editIcon}
            disabled={!text || isLocked}
            onClick={() =>
              void model
                .editAsYaml()
                .then(() =>
                  revealLine({ line: marks[0]?.line ?? 1, column: 1 })
                )
            }
          >
            {trans.__('Edit as YAML')}
          </Button>
        )}
        <CopyButton text={text} />
      </div>
      <StalePreview />
      {text || isEdited ? (
        <YamlEditor
          editors={editors}
          label={trans.__('Manifest as YAML')}
          text={isEdited ? text : text.trimEnd()}
          onChange={isEdited ? next => model.setManifest(next) : undefined}
          locked={isFrozen}
          marks={marks}
          extension={assist?.extension ?? undefined}
          place={place}
        />
      ) : (
        <div className="jp-t9k-Launch-lines">
          <p className="jp-t9k-secondary">
            {trans.__('Fix the errors to see the manifest.')}
          </p>
        </div>
      )}
      {isEdited && (
        <p className="jp-t9k-Launch-keys jp-t9k-caption">
          {assist?.hasFields &&
            trans.__('Ctrl Space lists the fields, F1 explains a field.')}{' '}
          {trans.__('Press Escape, then Tab to leave the editor.')}{' '}
          {assist?.note}
        </p>
      )}
    </section>
  );
}

/** Return marks for the errors and warnings that have a line. */
function linesFound(checks: readonly Check[]): ILineMark[] {
  return checks.flatMap(({ level, line, column, message, hint }) =>
    line !== null && (level === 'error' || level === 'warning')
      ? {
          line,
          column,
          kind: level,
          message: sentences([message, hint])
        }
      : []
  );
}
