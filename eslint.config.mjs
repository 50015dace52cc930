import js from '@eslint/js';
import jupyter from '@jupyter/eslint-plugin';
import { defineConfig, globalIgnores } from 'eslint/config';
import globals from 'globals';
import tseslint from 'typescript-eslint';

export default defineConfig([
  globalIgnores(['.venv', 'build', 'jupyterlab_t9kjob', 'lib']),
  js.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    plugins: { jupyter },
    extends: [tseslint.configs.strict, jupyter.configs.recommended],
    languageOptions: {
      globals: globals.browser,
      parserOptions: { projectService: true }
    },
    rules: {
      '@typescript-eslint/naming-convention': [
        'error',
        {
          selector: 'interface',
          format: ['PascalCase'],
          custom: { regex: '^I[A-Z]', match: true }
        }
      ],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-namespace': 'off', // a token's types live in its namespace
      curly: 'error',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      // what a plugin activates at once is loaded at once in any case
      'jupyter/prefer-lazy-imports': 'off',
      'prefer-arrow-callback': 'error'
    }
  },
  {
    files: ['src/api/types.ts'], // generated; openapi-typescript names its interfaces itself
    rules: { '@typescript-eslint/naming-convention': 'off' }
  },
  {
    files: ['tests/**'],
    rules: {
      'jupyter/command-described-by': 'off', // stand-ins for commands of others
      'jupyter/no-untranslated-string': 'off'
    }
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    languageOptions: { globals: globals.node }
  }
]);
