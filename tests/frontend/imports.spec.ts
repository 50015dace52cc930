import { existsSync, readdirSync, readFileSync } from 'fs';
import { dirname, join, relative, resolve } from 'path';

const SRC = resolve(__dirname, '../../src');

/** Import statements, those of types included, and dynamic imports. */
const IMPORT = /(?:\bfrom|\bimport\(|^import) ?'(\.[^']+)'/gm;

/** Import statements of values. */
const VALUES = /^(?:import|export) (?!type\b)[^;]*?from '(\.[^']+)';/gm;

/** Imports that are loaded when they are evaluated. */
const LATER = /\bimport\('(\.[^']+)'\)/g;

/** Imports of style sheets. */
const SHEETS = /^import '(\.[^']+\.css)'/gm;

/** Paths of the modules of `src/`. */
const sources = (): string[] =>
  readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter(file => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
    .map(file => join(SRC, file));

/** Paths of what a file imports by a pattern. */
const targetsIn = (file: string, pattern: RegExp): string[] =>
  [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, target]) =>
    resolve(dirname(file), target)
  );

/** Modules that each module of `src/` imports. */
function readImports(): Map<string, string[]> {
  const files = sources();
  const byModule = new Map(
    files.map(file => [file.replace(/\.tsx?$/, ''), file])
  );
  return new Map(
    [...byModule].map(([module, file]) => [
      module,
      targetsIn(file, IMPORT).filter(target => byModule.has(target))
    ])
  );
}

/** Return the first circle of imports that a depth-first search meets; null if there is none. */
function findCircle(imports: ReadonlyMap<string, string[]>): string[] | null {
  const done = new Set<string>();
  const visit = (module: string, path: string[]): string[] | null => {
    if (path.includes(module)) {
      return [...path.slice(path.indexOf(module)), module];
    }
    if (done.has(module)) {
      return null;
    }
    for (const target of imports.get(module) ?? []) {
      const circle = visit(target, [...path, module]);
      if (circle) {
        return circle;
      }
    }
    done.add(module);
    return null;
  };
  for (const module of imports.keys()) {
    const circle = visit(module, []);
    if (circle) {
      return circle.map(one => relative(SRC, one));
    }
  }
  return null;
}

describe('imports', () => {
  it('have no circles, also none of types', () => {
    const imports = readImports();
    expect(imports.size).toBeGreaterThan(200);
    expect([...imports.values()].flat().length).toBeGreaterThan(1000);
    expect(findCircle(imports)).toBeNull();
  });

  it('of style sheets find them', () => {
    const sheets = sources().flatMap(file => targetsIn(file, SHEETS));
    expect(sheets.length).toBeGreaterThan(20);
    expect(sheets.filter(sheet => !existsSync(sheet))).toEqual([]);
  });

  it('of code that is loaded on demand are all dynamic in the code that the lab loads at its start', () => {
    const targets = (module: string, pattern: RegExp): string[] =>
      [`${module}.ts`, `${module}.tsx`]
        .filter(file => existsSync(file))
        .flatMap(file => targetsIn(file, pattern));
    const started = new Set([join(SRC, 'index')]);
    for (const module of started) {
      targets(module, VALUES).forEach(target => started.add(target));
    }
    expect(started.size).toBeGreaterThan(30);
    const later = [...started].flatMap(module => targets(module, LATER));
    expect(later).toContain(join(SRC, 'job/confirm'));
    expect(later.filter(module => started.has(module))).toEqual([]);
  });

  it('of a circle are reported', () => {
    const imports = new Map([
      [join(SRC, 'a'), [join(SRC, 'b')]],
      [join(SRC, 'b'), [join(SRC, 'a')]]
    ]);
    expect(findCircle(imports)).toEqual(['a', 'b', 'a']);
  });
});
