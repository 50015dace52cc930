/** Files of a run. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { shownPath } from '../../common/contentsPath';
import { formatBytes } from '../../common/format';
import { LinkButton } from '../../ui/Buttons';
import { Time } from '../../ui/Time';
import { Association, FileEntry, RunDetail } from '../../api/types';
import { FilterField } from './FilterField';
import { IRunLab } from './pageLab';

/** Greatest number of files that the server lists. */
const MOST_FILES = 1000;

interface IFilesPaneProps {
  detail: RunDetail;
  lab: IRunLab;
  trans: TranslationBundle;
}

/** Checkpoints, inputs, outputs and files of a run. */
export function FilesPane(props: IFilesPaneProps): React.JSX.Element {
  const { detail, lab, trans } = props;
  const { files, checkpoints, inputs, outputs } = detail;
  const [filter, setFilter] = React.useState('');
  const wanted = filter.trim().toLowerCase();
  const matches = ({ path }: FileEntry): boolean =>
    path.toLowerCase().includes(wanted);
  const parts: [string, FileEntry[]][] = [
    [trans.__('Checkpoints'), checkpoints.filter(matches)],
    [trans.__('Files of the run'), files.filter(matches)]
  ];
  const associations: [string, Association[]][] = [
    [trans.__('Inputs'), inputs],
    [trans.__('Outputs'), outputs]
  ];
  return (
    <div className="jp-t9k-RunFacts">
      <div className="jp-t9k-ChartsToolbar">
        <FilterField
          label={trans.__('Filter files')}
          value={filter}
          onChange={setFilter}
        />
      </div>
      {associations
        .filter(([, items]) => items.length > 0)
        .map(([title, items]) => (
          <section key={title} aria-label={title}>
            <h3>{title}</h3>
            <ul className="jp-t9k-RunFacts-list">
              {items.map((item, index) => (
                <li key={index}>
                  <Associated item={item} lab={lab} trans={trans} />
                </li>
              ))}
            </ul>
          </section>
        ))}
      {parts
        .filter(([, found]) => found.length > 0)
        .map(([title, found]) => (
          <section key={title} aria-label={title}>
            <h3>{title}</h3>
            <table className="jp-t9k-Table">
              <thead>
                <tr>
                  <th scope="col">{trans.__('Path')}</th>
                  <th scope="col" className="jp-t9k-Table-number">
                    {trans.__('Size')}
                  </th>
                  <th scope="col">{trans.__('Modified')}</th>
                </tr>
              </thead>
              <tbody>
                {found.map(({ path, size, modified_at }) => (
                  <tr key={path}>
                    <td>
                      <LinkButton onClick={() => lab.openFile(path)}>
                        {shownPath(path, detail.run.path)}
                      </LinkButton>
                    </td>
                    <td className="jp-t9k-Table-number">{formatBytes(size)}</td>
                    <td>
                      <Time time={modified_at} trans={trans} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        ))}
      {files.length === 0 && checkpoints.length === 0 && (
        <p className="jp-t9k-MetricsPane-none">
          {trans.__('This run has no files.')}
        </p>
      )}
      {files.length >= MOST_FILES && (
        <p className="jp-t9k-caption">
          {trans.__('Only the first %1 files are listed.', MOST_FILES)}
        </p>
      )}
    </div>
  );
}

/** An input or output: a link to its page if it is a known artifact. */
function Associated(props: {
  item: Association;
  lab: IRunLab;
  trans: TranslationBundle;
}): React.JSX.Element {
  const { item, lab, trans } = props;
  const { id, place } = item;
  return (
    <>
      {id !== null && lab.hasArtifacts ? (
        <LinkButton onClick={() => lab.openArtifact(id)}>
          {item.name}
        </LinkButton>
      ) : (
        item.name
      )}{' '}
      {!item.found && (
        <span className="jp-t9k-caption">{trans.__('not found')}</span>
      )}{' '}
      {place !== null && <code title={place}>{place}</code>}
    </>
  );
}
