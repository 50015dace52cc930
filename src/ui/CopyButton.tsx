/** Button that copies a text to the clipboard. */

import { Clipboard } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Button, LinkButton } from './Buttons';

interface ICopyButtonProps {
  /** Text to copy. */
  text: string;
  /** Label before the button is clicked: “Copy the command”. */
  label: string;
  kind: 'button' | 'link';
  trans: TranslationBundle;
}

/**
 * Copies a text and then shows “Copied”. The button also works over plain HTTP, where browsers
 * provide no clipboard API.
 */
export function CopyButton({
  text,
  label,
  kind,
  trans
}: ICopyButtonProps): React.JSX.Element {
  const [copied, setCopied] = React.useState(false);
  const Kind = kind === 'button' ? Button : LinkButton;
  return (
    <Kind
      onClick={() => {
        Clipboard.copyToSystem(text);
        setCopied(true);
      }}
    >
      {copied ? trans.__('Copied') : label}
    </Kind>
  );
}
