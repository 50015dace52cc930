/** Fields of debug mode: the command that each replica type runs in place of the training. */
import * as React from 'react';
import { joinWords, splitWords } from '../../common/shellWords';
import { CheckField } from '../parts/choices';
import { Row } from '../parts/Row';
import { TextField } from '../parts/TextField';
import { useDraft, useLaunch, useModel } from '../parts/context';

/** Fields of all replica types in debug mode. */
export function DebugFields(): React.JSX.Element {
  const debug = useModel(({ form }) => form.spec.debug);
  return (
    <>
      {Object.keys(debug ?? {}).map(type => (
        <TypeFields key={type} type={type} />
      ))}
    </>
  );
}

/** Command of a replica type, and whether its init containers run. */
function TypeFields({ type }: { type: string }): React.JSX.Element | null {
  const { model, trans } = useLaunch();
  const field = `/debug/${type}/command`;
  const draft = useDraft(field);
  const skips = useModel(now => now.can('skip_init').supported);
  const waiting = useModel(({ form }) => form.spec.debug?.[type] ?? null);
  const [typed, setTyped] = React.useState<string | null>(null);
  if (!waiting) {
    return null;
  }
  const edit = (change: Partial<typeof waiting>): void => {
    const { debug } = model.form.spec;
    model.edit(
      { debug: { ...debug, [type]: { ...waiting, ...change } } },
      field
    );
  };
  const change = (text: string): void => {
    setTyped(text);
    const { words } = splitWords(text);
    if (words?.length) {
      edit({ command: words });
    } else {
      const problem = words
        ? trans.__('Enter the command that runs in place of the training.')
        : trans.__('Close the quotes.');
      model.setDraft(field, { text, problem });
    }
  };
  return (
    <Row
      field={field}
      caption={trans.__(
        'Runs in place of the training; a terminal has the job’s command typed.'
      )}
    >
      <TextField
        code
        field={field}
        value={draft ?? typed ?? joinWords(waiting.command)}
        onChange={change}
        onBlur={() => setTyped(null)}
      />
      {(skips || waiting.skip_init) && (
        <CheckField
          field={`/debug/${type}/skip_init`}
          checked={waiting.skip_init}
          onChange={skip_init => edit({ skip_init })}
        >
          {trans.__('Skip init containers')}
        </CheckField>
      )}
    </Row>
  );
}
