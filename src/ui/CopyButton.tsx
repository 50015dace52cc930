import { Clipboard } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Button, LinkButton } from './Buttons';

interface ICopyButtonProps {
  text: string;
  /** What it says before it was pressed: “Copy the command”. */
  label: string;
  kind: 'button' | 'link';
  trans: TranslationBundle;
}

/** Copies a text, and says so. Works over plain HTTP as well, where browsers have no clipboard API. */
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
