/** Field of the job's config files. */
import { closeIcon } from '@jupyterlab/ui-components';
import { PathExt } from '@jupyterlab/coreutils';
import * as React from 'react';
import { IconButton, LinkButton } from '../../ui/Buttons';
import { ConfigFile, configFilesOf } from '../content/form';
import { useFixed, useLaunch, useModel } from '../parts/context';
import { FieldErrors, useField, WithLocks } from '../parts/Row';
import { TextField } from '../parts/TextField';

const FIELD = '/config_files';

/** Most lines of a file that its field shows at once. */
const MOST_LINES = 8;

/** Rows of the config files: path in the job, and text. */
export function ConfigFiles(): React.JSX.Element {
  const { model, trans, actions, prefix, reveal } = useLaunch();
  const files = useModel(({ form }) => configFilesOf(form.spec));
  const isFixed = useFixed(FIELD) !== null;
  const label = `${prefix}config-files`;
  const add = (file: ConfigFile): void => {
    const now = configFilesOf(model.form.spec);
    model.edit({ config_files: [...now, file] }, FIELD);
    reveal(`${FIELD}/${now.length}/path`);
  };
  const choose = async (): Promise<void> => {
    const chosen = await actions.chooseText();
    if (chosen) {
      add({ path: `/etc/${PathExt.basename(chosen.path)}`, text: chosen.text });
    }
  };
  return (
    <div
      className="jp-t9k-Launch-configFiles"
      role="group"
      aria-labelledby={label}
    >
      <span id={label} className="jp-t9k-Launch-configFilesTitle">
        {trans.__('Config files')}
      </span>
      <WithLocks fields={[FIELD]}>
        {files.map((file, index) => (
          <ConfigFileRow key={index} file={file} index={index} />
        ))}
      </WithLocks>
      {!isFixed && (
        <div className="jp-t9k-Launch-line jp-t9k-Launch-wrap">
          <LinkButton
            data-field={FIELD}
            onClick={() => add({ path: '', text: '' })}
          >
            {trans.__('Add config file')}
          </LinkButton>
          <LinkButton onClick={() => void choose()}>
            {trans.__('Copy a file of the workspace…')}
          </LinkButton>
        </div>
      )}
      <p className="jp-t9k-caption">
        {trans.__(
          'Small texts that the pods find at their paths. Whoever can see the job can read them, so put no password into them.'
        )}
      </p>
    </div>
  );
}

/** Properties of the row of a config file. */
interface IConfigFileRowProps {
  file: ConfigFile;
  index: number;
}

const ConfigFileRow = React.memo(({ file, index }: IConfigFileRowProps) => {
  const { model, trans, reveal } = useLaunch();
  const field = `${FIELD}/${index}`;
  const isFixed = useFixed(field) !== null;
  const text = useField(`${field}/text`);
  const name = file.path || String(index + 1);
  const change = (changes: Partial<ConfigFile>): void => {
    const files = configFilesOf(model.form.spec).map((other, i) =>
      i === index ? { ...other, ...changes } : other
    );
    model.edit({ config_files: files }, field);
  };
  const remove = (): void => {
    const files = configFilesOf(model.form.spec).filter((_, i) => i !== index);
    model.edit({ config_files: files }, field);
    reveal(index ? `${FIELD}/${index - 1}/path` : FIELD);
  };
  return (
    <div
      className="jp-t9k-Launch-configFile"
      role="group"
      aria-label={trans.__('Config file %1', name)}
    >
      <TextField
        code
        field={`${field}/path`}
        aria-label={trans.__('Path in the job')}
        value={file.path}
        placeholder={trans.__('such as /etc/nccl.conf')}
        onChange={path => change({ path })}
      />
      {isFixed ? (
        <span />
      ) : (
        <IconButton
          icon={closeIcon}
          label={trans.__('Remove config file %1', name)}
          onClick={remove}
        />
      )}
      <textarea
        {...text}
        spellCheck={false}
        data-code
        aria-label={trans.__('Text of %1', name)}
        rows={Math.min(MOST_LINES, Math.max(2, file.text.split('\n').length))}
        value={file.text}
        onChange={event =>
          text.readOnly || change({ text: event.target.value })
        }
      />
      <div className="jp-t9k-Launch-mountSaid">
        {['path', 'text'].map(part => (
          <FieldErrors key={part} field={`${field}/${part}`} />
        ))}
      </div>
    </div>
  );
});
ConfigFileRow.displayName = 'ConfigFileRow';
