/** Markdown of a file, rendered by the lab, which removes scripts. */
import { Widget } from '@lumino/widgets';
import * as React from 'react';
import { PreviewText } from './previewParts';

/** Returns a widget with rendered Markdown, without its scripts. */
export type RenderMarkdown = (text: string) => Promise<Widget>;

interface IMarkdownProps {
  text: string;
  render: RenderMarkdown;
}

/** Rendered Markdown; the text until it is rendered, or if that fails. */
export function Markdown({ text, render }: IMarkdownProps): React.JSX.Element {
  const host = React.useRef<HTMLDivElement>(null);
  const [isRendered, setRendered] = React.useState(false);
  // A widget must be disposed before React removes its host; other effects end after that.
  React.useLayoutEffect(() => {
    let widget: Widget | null = null;
    let isCurrent = true;
    render(text).then(
      rendered => {
        if (isCurrent && host.current) {
          widget = rendered;
          Widget.attach(rendered, host.current);
          setRendered(true);
        } else {
          rendered.dispose();
        }
      },
      error => console.warn('t9kjob: rendering Markdown:', error)
    );
    return () => {
      isCurrent = false;
      widget?.dispose();
      setRendered(false);
    };
  }, [text, render]);
  return (
    <>
      <div ref={host} className="jp-t9k-Preview-markdown" />
      {!isRendered && <PreviewText text={text} />}
    </>
  );
}
