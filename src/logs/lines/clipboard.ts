/** The browser's clipboard. */
import { ILogClipboard } from '../model/copy';

/** Writes to the browser's clipboard. `now` also works on pages without a secure context (plain HTTP). */
export const logClipboard: ILogClipboard = {
  now: text => {
    let done = false;
    const onCopy = (event: ClipboardEvent): void => {
      event.clipboardData?.setData('text/plain', text);
      event.preventDefault();
      event.stopImmediatePropagation();
      done = true;
    };
    document.addEventListener('copy', onCopy, true);
    try {
      document.execCommand('copy');
    } finally {
      document.removeEventListener('copy', onCopy, true);
    }
    return done;
  },
  later: async text => {
    // The write begins during the user's event. Browsers refuse a write that begins after the text arrived.
    const blob = text.then(item => new Blob([item], { type: 'text/plain' }));
    blob.catch(() => undefined); // The caller handles the rejection of `text`.
    await navigator.clipboard.write([
      new ClipboardItem({ 'text/plain': blob })
    ]);
  }
};
