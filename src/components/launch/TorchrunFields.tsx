import * as React from 'react';
import { joinWords, splitWords } from '../../model/shellWords';
import { useLaunch } from './context';
import { CheckField, Row, TextField } from './fields';

/** Whether torchrun starts the processes, and with which further options. */
export function TorchrunFields(): React.JSX.Element {
  const { model, trans } = useLaunch();
  const { torchrun } = model.form.spec;
  // What was set comes back when torchrun is switched on again.
  const last = React.useRef(torchrun);
  last.current = torchrun ?? last.current;
  const field = '/torchrun/extra_options';
  const options = torchrun?.extra_options ?? [];
  const setOptions = (text: string) => {
    const { words } = splitWords(text);
    if (!words) {
      const problem = trans.__('A quotation mark is not closed.');
      model.setDraft(field, { text, problem });
    } else if (torchrun) {
      model.edit({ torchrun: { ...torchrun, extra_options: words } }, field);
    }
  };
  const [typed, setTyped] = React.useState<string | null>(null);
  return (
    <>
      <div className="jp-t9k-Launch-row">
        <span />
        <div className="jp-t9k-Launch-control">
          <CheckField
            field="/torchrun"
            checked={torchrun !== null}
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
                field
              )
            }
          >
            {trans.__('Start the processes with torchrun')}
          </CheckField>
          {!torchrun && (
            <div className="jp-t9k-caption">
              {model.isCluster
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
      {torchrun && (
        <Row field={field}>
          <TextField
            code
            field={field}
            value={
              model.form.drafts[field]?.text ?? typed ?? joinWords(options)
            }
            placeholder={trans.__('none')}
            onChange={text => {
              setTyped(text);
              setOptions(text);
            }}
            onBlur={() => setTyped(null)}
          />
        </Row>
      )}
    </>
  );
}
