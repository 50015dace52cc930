import js from '@eslint/js';
import jupyter from '@jupyter/eslint-plugin';
import { defineConfig, globalIgnores } from 'eslint/config';
import globals from 'globals';
import tseslint from 'typescript-eslint';

// A folder of src/ imports from those after it, never from those before it (docs/developer/architecture.md).
const LAYERS = [
  ['index'],
  ['lab'],
  ['sidebar'],
  ['alljobs', ['compare', 'space', 'view', 'model']],
  [
    'launch',
    [
      'form',
      'start',
      'preview',
      'yaml',
      'tries',
      'fields',
      'parts',
      'model',
      'content'
    ]
  ],
  ['job', ['view', 'resources', 'replicas', 'model']],
  [
    'experiments',
    ['table', 'compare', 'run', 'artifact', 'flow', 'charts', 'model']
  ],
  ['logs', ['view', 'lines', 'model', 'loading']],
  ['notifications', ['view', 'model']],
  ['cluster', ['view', 'model']],
  ['tensorboard', ['view', 'model']],
  ['jobs'],
  ['tokens'],
  ['shell'],
  ['ui'],
  ['api'],
  ['common']
];

/** Forbid imports of folders that lie above a folder, and React in models. */
function layer(files, above, beside = []) {
  const patterns = [
    {
      regex: `^(\\.\\./)+(${above.join('|')})(/|$)`,
      message: 'It is a layer above this one.'
    }
  ];
  if (beside.length > 0) {
    patterns.push({
      regex: `^(\\.\\./)+(${beside.join('|')})/`,
      message: 'It is a layer above this one.'
    });
  }
  const paths = /\/(model|content|loading)\//.test(files)
    ? [{ name: 'react', message: 'Models know no React.' }]
    : [];
  return {
    files: [files],
    rules: { 'no-restricted-imports': ['error', { patterns, paths }] }
  };
}

const layers = LAYERS.slice(1).flatMap(([folder, parts = []], index) => {
  const above = LAYERS.slice(0, index + 1).map(([name]) => name);
  return [
    layer(`src/${folder}{/**,.ts}`, above),
    ...parts.map((part, at) =>
      layer(`src/${folder}/${part}/**`, above, parts.slice(0, at))
    )
  ];
});

export default defineConfig([
  globalIgnores(['.venv', 'build', 'jupyterlab_t9kjob', 'lib']),
  js.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    plugins: { jupyter },
    extends: [tseslint.configs.strict, jupyter.configs.recommended],
    languageOptions: {
      globals: globals.browser,
      // those of `lint:types`: the tests' project has the sources as well
      parserOptions: {
        project: ['tests/frontend/tsconfig.json', 'tests/ui/tsconfig.json']
      }
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
    files: ['src/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...['BinaryExpression', 'SwitchCase'].map(parent => ({
          selector: `${parent} > Literal[value=/^(local|t9k|kubeflow)$/]`,
          message: 'Ask for a fact of the engine (EngineInfo.facts) instead.'
        }))
      ]
    }
  },
  {
    files: ['src/api/types.ts'], // generated; openapi-typescript names its interfaces itself
    rules: { '@typescript-eslint/naming-convention': 'off' }
  },
  ...layers,
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
