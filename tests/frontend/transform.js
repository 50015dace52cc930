/** Jest's transformer: the bundler's compiler, many times as fast as those of Babel and TypeScript. `tsc` checks types. */
const { createHash } = require('crypto');
const { experiments, rspackVersion } = require('@rspack/core');

// What the lab's parts import for forms and tool bars, which few tests draw: loaded where it is used first.
const LATER = [
  '@jupyter/react-components',
  '@jupyter/web-components',
  '@rjsf/core',
  '@rjsf/utils'
];

module.exports = {
  createTransformer({ typed }) {
    const options = {
      jsc: {
        parser: typed
          ? { syntax: 'typescript', tsx: true }
          : { syntax: 'ecmascript' },
        target: 'es2022',
        // calls of jest.mock come first, and fields are set as in the build
        transform: { hidden: { jest: true }, useDefineForClassFields: !typed }
      },
      module: { type: 'commonjs', lazy: LATER },
      sourceMaps: true
    };
    const fixed = JSON.stringify([rspackVersion, options]);
    return {
      getCacheKey: (source, filename) =>
        createHash('sha1')
          .update([fixed, filename, source].join('\0'))
          .digest('hex'),
      process: (source, filename) =>
        experiments.swc.transformSync(source, { ...options, filename })
    };
  }
};
