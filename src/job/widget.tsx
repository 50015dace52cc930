/** Widget of a job's tab, and the dialogs of its log. */
import { InputDialog } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { IJobViewLab, JobView } from './view/JobView';
import { PageWidget } from '../shell/pageWidget';
import { serverNow } from '../common/clock';
import { formatClockInput } from '../common/format';
import { JobTabModel } from './model/jobTab';
import { jobTitle } from '../jobs/sentence';
import { ILogViewHandle } from '../logs/view/LogView';
import '../../style/pages.css';

/** Content of a job's tab. */
export class JobWidget extends PageWidget<JobTabModel> {
  constructor(
    model: JobTabModel,
    private readonly _lab: IJobViewLab,
    private readonly _trans: TranslationBundle
  ) {
    const label = model.id.split(':')[2] ?? model.id;
    super(model, { className: 'jp-t9k-Job', label });
    model.watch.changed.connect(this._entitle, this);
    this._entitle();
  }

  /** Actions of the log while its pane is visible; otherwise null. */
  get log(): ILogViewHandle | null {
    return this.model.state.pane === 'logs' ? this._log.current : null;
  }

  /**
   * Focus the log's lines or the job's name.
   *
   * Before the job is known, the tab itself has the focus; the name takes it over when it appears.
   */
  protected override onActivateRequest(): void {
    const target =
      this.node.querySelector<HTMLElement>(
        '[data-pane="logs"] .jp-t9k-LogLines'
      ) ?? this.node.querySelector<HTMLElement>('.jp-t9k-JobHeader h2');
    (target ?? this.node).focus();
  }

  protected override render(): React.JSX.Element {
    return (
      <JobView
        model={this.model}
        lab={this._lab}
        trans={this._trans}
        logHandle={this._log}
      />
    );
  }

  /** Set the tab's title to the job's name. */
  private _entitle(): void {
    const job = this.model.watch.detail?.job;
    if (job) {
      this.title.label = jobTitle(job);
      this.title.caption = job.reason
        ? `${job.name}\n${job.reason.sentence}`
        : job.name;
    }
  }

  private readonly _log = React.createRef<ILogViewHandle>();
}

/**
 * Let the user enter a time of day.
 *
 * @param near - A time on the same day, in seconds since the epoch; null for now.
 * @returns Seconds since the epoch; null if the user cancels or the text is no time.
 */
export async function askTime(
  near: number | null,
  trans: TranslationBundle
): Promise<number | null> {
  const base = near ?? serverNow();
  const { value } = await InputDialog.getText({
    title: trans.__('Go to time'),
    label: trans.__('Hours and minutes; seconds are optional'),
    text: formatClockInput(base),
    pattern: '\\s*\\d{1,2}:\\d{2}(:\\d{2})?\\s*',
    okLabel: trans.__('Go')
  });
  const match = /^\s*(\d{1,2}):(\d{2})(?::(\d{2}))?\s*$/.exec(value ?? '');
  if (!match) {
    return null;
  }
  const date = new Date(base * 1000);
  date.setHours(Number(match[1]), Number(match[2]), Number(match[3] ?? 0), 0);
  return date.getTime() / 1000;
}

/** Let the user choose one of many log streams; null if the user cancels. */
export async function askStream(
  ids: readonly string[],
  trans: TranslationBundle
): Promise<string | null> {
  const { value } = await InputDialog.getItem({
    title: trans.__('Download a log stream'),
    label: trans.__('Stream'),
    items: [...ids],
    okLabel: trans.__('Download')
  });
  return value;
}
