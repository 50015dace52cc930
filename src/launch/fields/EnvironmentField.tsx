/** Field of the job's environment variables. */
import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { EnvVar } from '../../api/types';
import { lockIcon } from '../../ui/pageIcons';
import { IconButton, LinkButton } from '../../ui/Buttons';
import { useFixed, useLaunch, useModel } from '../parts/context';
import { FieldErrors, useFieldId, WithLocks } from '../parts/Row';
import { TextField } from '../parts/TextField';
import { RecorderField } from './RecorderField';

/** Number of variables read by the script that are offered beside “Add variable”. */
const OFFERED = 4;

/** Rows of the environment variables that the job gets in addition to the kernel's. */
export function EnvironmentField(): React.JSX.Element {
  const { model, trans, prefix, reveal } = useLaunch();
  const env = useModel(({ form }) => form.env);
  const offered = useModel(
    ({ state }) => state.prefill?.script.env_reads ?? []
  );
  const isFixed = useFixed('/env') !== null;
  const label = `${prefix}environment`;
  const add = (name: string) => {
    model.setEnv([...env, { name, value: '', secret: null }]);
    reveal(`/env/${env.length}/${name ? 'value' : 'name'}`);
  };
  const reads = offered.filter(
    read => !env.some(row => row.name === read.name)
  );
  return (
    <div className="jp-t9k-Launch-row" role="group" aria-labelledby={label}>
      <span id={label} className="jp-t9k-Launch-label">
        {trans.__('Environment')}
      </span>
      <div className="jp-t9k-Launch-control">
        <WithLocks fields={['/env']}>
          {env.map((row, index) => (
            <VariableRow key={index} row={row} index={index} />
          ))}
        </WithLocks>
        <div className="jp-t9k-Launch-line jp-t9k-Launch-wrap">
          {!isFixed && (
            <LinkButton onClick={() => add('')}>
              {trans.__('Add variable')}
            </LinkButton>
          )}
          {!isFixed && reads.length > 0 && (
            <span className="jp-t9k-caption">
              {trans.__('the script reads')}{' '}
              {reads.slice(0, OFFERED).map((read, index) => (
                <React.Fragment key={read.name}>
                  {index > 0 && ', '}
                  <LinkButton
                    title={trans.__('Add %1', read.name)}
                    onClick={() => add(read.name)}
                  >
                    {read.name}
                  </LinkButton>{' '}
                  {read.default === null
                    ? trans.__('(no default)')
                    : trans.__('(default %1)', read.default)}
                </React.Fragment>
              ))}
              {reads.length > OFFERED &&
                ` ${trans.__('and %1 more', reads.length - OFFERED)}`}
            </span>
          )}
        </div>
        <RecorderField />
      </div>
    </div>
  );
}

/** Properties of the row of a variable. */
interface IVariableRowProps {
  row: EnvVar;
  index: number;
}

const VariableRow = React.memo(({ row, index }: IVariableRowProps) => {
  const { model, trans, reveal } = useLaunch();
  const field = `/env/${index}`;
  const add = `${useFieldId('')}environment`;
  const canBeSecret = useModel(now => now.can('secrets').supported);
  const isFixed = useFixed(`${field}/value`) !== null;
  const change = (changes: Partial<EnvVar>) =>
    model.setEnv(
      model.form.env.map((other, i) =>
        i === index ? { ...other, ...changes } : other
      )
    );
  const remove = () => {
    const { env } = model.form;
    model.setEnv(env.filter((_, i) => i !== index));
    if (env.length > 1) {
      reveal(`/env/${Math.max(0, index - 1)}/name`);
    } else {
      document
        .getElementById(add)
        ?.parentElement?.querySelector('button')
        ?.focus();
    }
  };
  return (
    <>
      <div className="jp-t9k-Launch-line">
        <TextField
          code
          field={`${field}/name`}
          value={row.name}
          aria-label={trans.__('Name of variable %1', index + 1)}
          placeholder={trans.__('NAME')}
          onChange={text => change({ name: text })}
        />
        {row.secret ? (
          <SecretFields
            field={field}
            name={row.name || String(index + 1)}
            secret={row.secret}
            onChange={secret => change({ secret })}
          />
        ) : (
          <TextField
            code
            field={`${field}/value`}
            value={row.value ?? ''}
            aria-label={trans.__('Value of %1', row.name || index + 1)}
            placeholder={trans.__('value')}
            onChange={text => change({ value: text })}
          />
        )}
        {(canBeSecret || row.secret) && !isFixed && (
          <IconButton
            icon={lockIcon}
            label={trans.__('%1 is a key of a secret', row.name || index + 1)}
            aria-pressed={row.secret !== null}
            onClick={() => {
              const secret = { name: '', key: '' };
              change(
                row.secret
                  ? { secret: null, value: '' }
                  : { secret, value: null }
              );
              reveal(row.secret ? `${field}/value` : `${field}/secret`);
            }}
          />
        )}
        {!isFixed && (
          <IconButton
            icon={closeIcon}
            label={
              row.name
                ? trans.__('Remove %1', row.name)
                : trans.__('Remove variable')
            }
            onClick={remove}
          />
        )}
      </div>
      {['name', 'value', 'secret', 'key'].map(part => (
        <FieldErrors key={part} field={`${field}/${part}`} />
      ))}
    </>
  );
});
VariableRow.displayName = 'VariableRow';

/** Name and key of a secret that holds a variable's value. The page never reads the value. */
function SecretFields({
  field,
  name,
  secret,
  onChange
}: {
  field: string;
  /** Name of the variable. */
  name: string;
  secret: NonNullable<EnvVar['secret']>;
  onChange(secret: NonNullable<EnvVar['secret']>): void;
}): React.JSX.Element {
  const { trans } = useLaunch();
  return (
    <span className="jp-t9k-Launch-secret">
      <TextField
        code
        field={`${field}/secret`}
        value={secret.name}
        aria-label={trans.__('Secret of %1', name)}
        placeholder={trans.__('secret')}
        onChange={text => onChange({ ...secret, name: text.trim() })}
      />
      <TextField
        code
        field={`${field}/key`}
        value={secret.key}
        aria-label={trans.__('Key of the secret of %1', name)}
        placeholder={trans.__('key')}
        onChange={text => onChange({ ...secret, key: text.trim() })}
      />
    </span>
  );
}
