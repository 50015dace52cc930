const jupyterlab = require('@jupyterlab/testing/lib/jest-config')(__dirname);

const transform = '<rootDir>/tests/frontend/transform.js';

// published as ES modules, which jest has to translate
const esModules = [
  '@codemirror',
  '@jupyter',
  '@jupyterlab',
  '@marijn',
  '@microsoft',
  'exenv-es6',
  'lib0',
  'marked',
  'nanoid',
  'vscode-ws-jsonrpc',
  'y-protocols',
  'y-websocket',
  'yjs'
].join('|');

module.exports = {
  ...jupyterlab,
  reporters: [
    'default',
    ['jest-junit', { outputFile: 'build/reports/jest.xml' }]
  ],
  roots: ['src', 'tests/frontend'],
  setupFiles: [...jupyterlab.setupFiles, '<rootDir>/tests/frontend/setup.ts'],
  setupFilesAfterEnv: ['<rootDir>/tests/frontend/patience.ts'],
  testRegex: '\\.spec\\.tsx?$',
  transform: {
    ...jupyterlab.transform,
    '^.+\\.tsx?$': [transform, { typed: true }],
    '^.+\\.jsx?$': [transform, { typed: false }]
  },
  // Loaded machines need more than the usual five seconds.
  testTimeout: 300_000,
  transformIgnorePatterns: [`/node_modules/(?!${esModules}).+`]
};
