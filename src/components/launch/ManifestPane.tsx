import { editIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Check } from '../../api/types';
import { Button } from '../Buttons';
import { YamlEditor } from '../YamlEditor';
import { ILineMark } from '../yamlMarks';
import { CopyButton, StalePreview } from './CommandPane';
import { useLaunch } from './context';

/** The manifest that the form amounts to, or that is edited in its place. */
export function ManifestPane(): React.JSX.Element {
  const { model, trans, actions, editors, checks, linePlace, revealLine } =
    useLaunch();
  const { manifest, busy } = model.state;
  const { shown, editedLines } = model.preview;
  const text = manifest?.text ?? shown?.manifest ?? '';
  const kind = /^kind: *(\w+)/m.exec(text)?.[1] ?? '';
  const marks: ILineMark[] = manifest
    ? linesFound(checks)
    : [...editedLines].map(line => ({ line: line + 1, kind: 'edited' }));
  const reading = busy === 'reading';
  return (
    <section
      className="jp-t9k-Launch-command"
      aria-label={trans.__('Manifest')}
    >
      <div className="jp-t9k-Launch-commandHead">
        <h3>
          {trans.__('Manifest')} <span className="jp-t9k-caption">{kind}</span>
        </h3>
        {manifest ? (
          <Button
            aria-disabled={reading || undefined}
            onClick={() => reading || actions.backToForm()}
          >
            {reading ? trans.__('Reading…') : trans.__('Back to form')}
          </Button>
        ) : (
          <Button
            icon={editIcon}
            disabled={!text || model.isLocked}
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
      {text || manifest ? (
        <YamlEditor
          editors={editors}
          label={trans.__('Manifest as YAML')}
          text={manifest ? text : text.trimEnd()}
          onChange={manifest ? next => model.setManifest(next) : undefined}
          marks={marks}
          place={linePlace}
        />
      ) : (
        <div className="jp-t9k-Launch-lines">
          <p className="jp-t9k-secondary">
            {trans.__('There is a manifest as soon as the errors are fixed.')}
          </p>
        </div>
      )}
      {manifest && (
        <p className="jp-t9k-Launch-keys jp-t9k-caption">
          {trans.__('Escape, then Tab leaves the text.')}
        </p>
      )}
    </section>
  );
}

/** The lines that something is wrong in, each with the worst. */
function linesFound(checks: readonly Check[]): ILineMark[] {
  const found = new Map<number, ILineMark['kind']>();
  for (const kind of ['warning', 'error'] as const) {
    for (const { level, line } of checks) {
      if (level === kind && line !== null) {
        found.set(line, kind);
      }
    }
  }
  return [...found].map(([line, kind]) => ({ line, kind }));
}
