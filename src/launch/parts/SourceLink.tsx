/** Link to the source of a check. */
import * as React from 'react';
import { Check } from '../../api/types';
import { LinkButton } from '../../ui/Buttons';
import { useLaunch } from './context';

/** Link to the file and line, or to the web page, of a check. */
export function SourceLink({
  link
}: {
  link: Check['link'];
}): React.JSX.Element | null {
  const { actions } = useLaunch();
  if (link?.kind === 'file' && link.path !== null) {
    const { path, line, cell, label } = link;
    return (
      <LinkButton data-code onClick={() => actions.openFile(path, line, cell)}>
        {label}
      </LinkButton>
    );
  }
  if (link?.kind === 'url' && link.url !== null) {
    return (
      <a href={link.url} target="_blank" rel="noopener noreferrer">
        {link.label}
      </a>
    );
  }
  return null;
}
