/** Fields of torchrun. */
import * as React from 'react';
import { joinWords, splitWords } from '../../common/shellWords';
import { useDraft, useLaunch, useModel, useOptional } from '../parts/context';
import { CheckField } from '../parts/choices';
import { Row } from '../parts/Row';
import { TextField } from '../parts/TextField';

const OPTIONS = '/torchrun/extra_options';

/** Switch of torchrun, and torchrun's further options. */
export function TorchrunFields(): React.JSX.Element {
  const { model, trans } = useLaunch();
  // Keep the last settings, to restore them when the user switches torchrun on again.
  const [isOn, last] = useOptional(spec => spec.torchrun);
  const hasPods = useModel(({ facts }) => facts.has_pods);
  return (
    <>
      <div className="jp-t9k-Launch-row">
        <span />
        <div className="jp-t9k-Launch-control">
          <CheckField
            field="/torchrun"
            checked={isOn}
            onChange={on =>
              model.edit(
                {
                  torchrun: on
                    ? (last.current ?? {
                        proc_per_node: 1,
                        max_restarts: 0,
                        rdzv_backend: 'c10d',
                        extra_options: []
                      })
                    : null
                },
                OPTIONS
              )
            }
          >
            {trans.__('Start the processes with torchrun')}
          </CheckField>
          {!isOn && (
            <div className="jp-t9k-caption">
              {hasPods
                ? trans.__(
                    'Off: each node runs the script once; RANK and WORLD_SIZE count the nodes.'
                  )
                : trans.__(
                    'Off: each node runs the script once, as one process without a process group.'
                  )}
            </div>
          )}
        </div>
      </div>
      {isOn && <OptionsField />}
    </>
  );
}

/** Further options of torchrun, quoted as in a shell. */
function OptionsField(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const options = useModel(({ form }) =>
    joinWords(form.spec.torchrun?.extra_options ?? [])
  );
  const draft = useDraft(OPTIONS);
  const [typed, setTyped] = React.useState<string | null>(null);
  const setOptions = (text: string) => {
    const { words } = splitWords(text);
    const { torchrun } = model.form.spec;
    if (!words) {
      const problem = trans.__('A quotation mark is not closed.');
      model.setDraft(OPTIONS, { text, problem });
    } else if (torchrun) {
      model.edit({ torchrun: { ...torchrun, extra_options: words } }, OPTIONS);
    }
  };
  return (
    <Row field={OPTIONS}>
      <TextField
        code
        field={OPTIONS}
        value={draft ?? typed ?? options}
        placeholder={trans.__('none')}
        onChange={text => {
          setTyped(text);
          setOptions(text);
        }}
        onBlur={() => setTyped(null)}
      />
    </Row>
  );
}
