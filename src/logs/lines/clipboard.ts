import { ILogClipboard } from '../model/copy';

/** The browser's clipboard; `now` works on pages without a secure context (plain HTTP) as well. */
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
    // Begun while the key is handled, so that the browser still takes the text when it has come.
    const blob = text.then(item => new Blob([item], { type: 'text/plain' }));
    blob.catch(() => undefined); // who called knows of it from `text`
    await navigator.clipboard.write([
      new ClipboardItem({ 'text/plain': blob })
    ]);
  }
};
