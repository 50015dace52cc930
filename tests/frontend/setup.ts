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

/*
 * To find a style, jsdom compares the element and each of its ancestors with all rules: half of the time of a test that
 * looks for roles. No style sheet of ours is loaded, so the element alone decides, and equal ones share a style.
 */
const compute = window.getComputedStyle.bind(window);
const known = new Map<string, CSSStyleDeclaration>();

window.getComputedStyle = element => {
  const alone = element.cloneNode(false) as Element;
  const tag = alone.outerHTML;
  let style = known.get(tag);
  if (!style) {
    style = compute(alone);
    known.set(tag, style);
  }
  return style;
};

/*
 * Lab widgets draw themselves, which React can't tell from a forgotten `act`; the tests wait for what they show. For
 * each of these warnings, Jest would look up the source of each line of its stack.
 */
const report = console.error;

console.error = (...words: unknown[]) => {
  if (!String(words[0]).includes('not wrapped in act')) {
    report(...words);
  }
};

export {};
