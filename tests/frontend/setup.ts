/** The clipboard, which jsdom has not: without one JupyterLab warns in each test file. */
let text = '';

Object.defineProperty(navigator, 'clipboard', {
  configurable: true,
  value: {
    readText: () => Promise.resolve(text),
    writeText: (written: string) => {
      text = written;
      return Promise.resolve();
    }
  }
});

// jsdom has no `structuredClone`.
globalThis.structuredClone ??= value => JSON.parse(JSON.stringify(value));

export {};
