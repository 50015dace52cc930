/** The pane of a job's log, with its downloads. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Job, LogLine, Replica } from '../../api/types';
import { IMenuItem } from '../../common/menu';
import { addressedLine, logAddress } from '../../logs/model/address';
import { ILogTexts, LogCopy } from '../../logs/model/copy';
import { ILogViewHandle, LogView } from '../../logs/view/LogView';
import { IWithShortcut } from '../../common/shortcut';
import { JobTabModel } from '../model/jobTab';
import { OpenFile } from './Traceback';

/** Functions of the lab that the log uses. */
export interface ILogsPaneLab {
  openFile: OpenFile;
  /** Download a file in the browser. */
  download(url: string): void;
  /** Let the user choose one of many log streams; null if the user cancels. */
  askStream(ids: readonly string[]): Promise<string | null>;
  /**
   * Let the user enter a time of day.
   *
   * @param near - A time on the same day, in seconds since the epoch; null for now.
   * @returns Seconds since the epoch; null if the user cancels.
   */
  askTime(near: number | null): Promise<number | null>;
  /**
   * Copy the address of the lab with these parameters.
   *
   * @param parameters - Parameters of the address.
   */
  copyAddress(parameters: Record<string, string>): void;
  /** Returns a label with the keyboard shortcut of a command. */
  withShortcut: IWithShortcut;
}

/** Properties of the pane. */
interface ILogsPaneProps {
  model: JobTabModel;
  lab: ILogsPaneLab;
  job: Job;
  replicas: readonly Replica[];
  trans: TranslationBundle;
  /** Receives the log's actions while the log is mounted. */
  logHandle: React.Ref<ILogViewHandle>;
}

/** Maximum number of streams in the download menu. For more streams, the menu opens a dialog. */
const MOST_ENTRIES = 12;
/** Maximum number of bytes that are read from the line of a progress bar. */
const MOST_BYTES = 128 * 1024;
/** Maximum number of a progress bar's updates that are shown. */
const MOST_UPDATES = 300;

/** The log, with its downloads. */
export function LogsPane(props: ILogsPaneProps): React.JSX.Element | null {
  const { model, lab, replicas, job, trans } = props;
  const { api } = model.jobs;
  const { id } = model;
  const { times, wrap } = model.state;
  const downloadLine = React.useCallback(
    (line: LogLine) => lab.download(api.logLineUrl(id, line)),
    [api, id, lab]
  );
  const loadUpdates = React.useCallback(
    async ({ stream, offset, size }: LogLine) => {
      const limit = Math.min(size, MOST_BYTES);
      const bytes = await api.logBytes(id, stream, {
        offset: offset + size - limit,
        limit
      });
      const updates = new TextDecoder()
        .decode(bytes)
        .replace(/\r?\n$/, '')
        .split('\r')
        .filter(update => update.trim() !== '');
      return updates.slice(-MOST_UPDATES);
    },
    [api, id]
  );
  const texts = React.useMemo<ILogTexts>(
    () => ({
      read: query => api.logText(id, query),
      download: query => lab.download(api.logTextUrl(id, query))
    }),
    [api, id, lab]
  );
  if (!model.log) {
    return null;
  }
  const { log, search, errors } = model.log;
  const downloads = (copy: LogCopy): (IMenuItem | null)[] => {
    const ids = (log.streams ?? []).map(stream => stream.id);
    const download = (stream: string): void =>
      lab.download(api.logDownloadUrl(id, stream));
    return [
      {
        label: trans.__('Lines Shown Here (One File)'),
        execute: () => copy.download()
      },
      {
        label: trans.__('All Streams (ZIP)'),
        execute: () => lab.download(api.logDownloadUrl(id))
      },
      null,
      ...(ids.length <= MOST_ENTRIES
        ? ids.map(stream => ({
            label: stream,
            execute: () => download(stream)
          }))
        : [
            {
              label: trans.__('One of %1 Streams…', ids.length),
              execute: () =>
                void lab.askStream(ids).then(stream => {
                  if (stream !== null) {
                    download(stream);
                  }
                })
            }
          ])
    ];
  };
  return (
    <LogView
      log={log}
      search={search}
      errors={errors}
      job={job}
      replicas={replicas}
      look={{ times, wrap }}
      setLook={look => model.set(look)}
      trans={trans}
      openFile={lab.openFile}
      downloadLine={downloadLine}
      loadUpdates={loadUpdates}
      downloads={downloads}
      texts={texts}
      withShortcut={lab.withShortcut}
      handle={props.logHandle}
      copyAddress={() => {
        const line = addressedLine(log);
        lab.copyAddress({
          't9kjob-job': id,
          ...(line && { stream: line.stream, offset: String(line.offset) }),
          log: logAddress(log, search)
        });
      }}
      goToTime={() => {
        void lab.askTime(log.topTime()).then(time => {
          if (time !== null) {
            log.go({ at: 'time', time });
          }
        });
      }}
    />
  );
}
