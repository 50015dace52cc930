import {
  keyAt,
  PathPart,
  positionAt
} from '../../../../src/launch/yaml/position';

/** The place of the `|` in a text. */
function at(text: string) {
  const lines = text.split('\n');
  const index = lines.findIndex(line => line.includes('¦'));
  const column = lines[index].indexOf('¦');
  lines[index] = lines[index].replace('¦', '');
  const found = positionAt(lines, index, column);
  return found && { ...found, path: shown(found.path) };
}

const shown = (path: readonly PathPart[]): string =>
  path.map(part => part ?? '[]').join('/');

const JOB = `apiVersion: v1
# spec: no
metadata: {name: x}
spec:
  runPolicy: &a
    backoffLimit: 3 # three
  replicaSpecs:
  - type: worker
    "replicas": 2
    template:
      spec:
        containers:
        - - nested: 1
        - name: x
          args: [a, b]
          command:
          - sh
          - |
            key: no
          'image': y:1
`;

describe('the place of a cursor in YAML', () => {
  it.each([
    [JOB + '¦', '', 'key', ''],
    [JOB + '  ¦', 'spec', 'key', ''],
    [JOB + '  runM¦', 'spec', 'key', 'runM'],
    [JOB + '  - ¦', 'spec/replicaSpecs/[]', 'key', ''],
    [JOB + '  - ty¦', 'spec/replicaSpecs/[]', 'key', 'ty'],
    [JOB + '  - type: wo¦', 'spec/replicaSpecs/[]/type', 'value', 'wo'],
    [JOB + '    ¦', 'spec/replicaSpecs/[]', 'key', ''],
    [
      JOB + '          ¦',
      'spec/replicaSpecs/[]/template/spec/containers/[]',
      'key',
      ''
    ],
    [
      JOB + '          - n¦',
      'spec/replicaSpecs/[]/template/spec/containers/[]',
      null,
      ''
    ],
    ['a:\n    b: ¦', 'a/b', 'value', ''],
    ['a:\n- ¦', 'a/[]', 'key', ''],
    ['a:\n- b: 1\n  c¦', 'a/[]', 'key', 'c'],
    ['a:\n  - b:\n      - ¦', 'a/[]/b/[]', 'key', ''],
    ['a: 1\n---\nb¦', '', 'key', 'b'],
    ['x:\n\n  # note\n\n  y¦: 1', 'x', 'key', 'y']
  ])('%#: is known', (text, path, kind, written) => {
    if (kind !== null) {
      expect(at(text)).toMatchObject({ path, kind, text: written });
    } else {
      expect(at(text)).toBeNull(); // below `image: y:1`, which is no list
    }
  });

  it.each([
    'a: b # ¦',
    '# ¦',
    'a: |\n  some¦',
    'a: |\n  b:\n    c¦',
    'a: {b: ¦',
    'a:¦',
    'a: text\n  more¦',
    'a: "b ¦"'
  ])('%#: offers nothing in %j', text => {
    const found = at(text);
    expect(found?.kind === 'key' ? found : null).toBeNull();
    expect(found).toBeNull();
  });

  it('knows the keys that are there', () => {
    expect(at('a: 1\nb:\n  c: 2\n¦\nd: 3')?.others).toEqual(['b', 'a', 'd']);
    expect(at('l:\n- a: 1\n  ¦\n  b: 2\n- c: 3')?.others).toEqual(['a', 'b']);
  });

  it('finds the path of each key of a manifest', () => {
    const lines = JOB.split('\n');
    const paths = lines.map((line, index) => {
      const column = /["'\w]/.exec(line)?.index ?? 0;
      return keyAt(lines, index, column)?.path ?? null;
    });
    expect(paths.map(path => path && shown(path))).toEqual([
      'apiVersion',
      null,
      'metadata',
      'spec',
      'spec/runPolicy',
      'spec/runPolicy/backoffLimit',
      'spec/replicaSpecs',
      'spec/replicaSpecs/[]/type',
      'spec/replicaSpecs/[]/replicas',
      'spec/replicaSpecs/[]/template',
      'spec/replicaSpecs/[]/template/spec',
      'spec/replicaSpecs/[]/template/spec/containers',
      'spec/replicaSpecs/[]/template/spec/containers/[]/[]/nested',
      'spec/replicaSpecs/[]/template/spec/containers/[]/name',
      'spec/replicaSpecs/[]/template/spec/containers/[]/args',
      'spec/replicaSpecs/[]/template/spec/containers/[]/command',
      null,
      null,
      null,
      'spec/replicaSpecs/[]/template/spec/containers/[]/image',
      null
    ]);
  });
});
