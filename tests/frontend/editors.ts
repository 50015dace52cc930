import { IEditorServices } from '@jupyterlab/codeeditor';
import {
  CodeMirrorEditorFactory,
  CodeMirrorMimeTypeService,
  EditorExtensionRegistry,
  EditorLanguageRegistry
} from '@jupyterlab/codemirror';

/** The lab's editors, as the lab puts them together. */
export function someEditors(): IEditorServices {
  const languages = new EditorLanguageRegistry();
  const extensions = new EditorExtensionRegistry();
  EditorExtensionRegistry.getDefaultExtensions().forEach(extension =>
    extensions.addExtension(extension)
  );
  return {
    factoryService: new CodeMirrorEditorFactory({ languages, extensions }),
    mimeTypeService: new CodeMirrorMimeTypeService(languages)
  };
}
