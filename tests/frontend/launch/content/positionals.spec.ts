/** Positional arguments, as argparse itself shares words out to them. */
import { execFileSync } from 'child_process';
import { ScriptOption } from '../../../../src/api/types';
import { composeArgs } from '../../../../src/launch/content/args/composeArgs';
import { parseArgs } from '../../../../src/launch/content/args/parseArgs';
import {
  optionKey,
  OptionValues
} from '../../../../src/launch/content/scriptOptions';
import { option } from '../../launchFakes';

/** Name, nargs and default of a positional argument; the name `train` stands for a subcommand with a list and a path. */
type Declared = [string, string | number | null, string?];

const PARSE = `
import argparse, json, sys
def parser(declared, unread):
    root = argparse.ArgumentParser(exit_on_error=False)
    if unread:
        root.add_argument('--x', action=unread)
    root.add_argument('--lr')
    root.add_argument('--layers', nargs='*')
    for name, nargs, *default in declared:
        if name == 'train':
            train = root.add_subparsers(dest='command').add_parser('train')
            train.add_argument('--tags', nargs='+')
            train.add_argument('inputs', nargs='*')
            train.add_argument('target', nargs='?' if nargs == '?' else None)
        else:
            root.add_argument(name, nargs=nargs, default=default[0] if default else None)
    return root
def parse(declared, args, unread=None):
    try:
        known, unknown = parser(declared, unread).parse_known_args(args)
        return [vars(known), unknown]
    except (argparse.ArgumentError, SystemExit):
        return None
print(json.dumps([parse(*case) for case in json.load(sys.stdin)]))
`;

/** An option that the server has not read from the script. */
type Unread = 'store' | 'store_true' | null;

/** Return what argparse makes of arguments: values and unknown arguments, or null for an error. */
function argparse(
  cases: [Declared[], string[], Unread?][]
): ([Record<string, unknown>, string[]] | null)[] {
  const output = execFileSync('python3', ['-c', PARSE], {
    input: JSON.stringify(cases),
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'ignore']
  });
  return JSON.parse(output);
}

/** Return the options that the server reads from the parser of these arguments. */
function optionsOf(declared: Declared[]): ScriptOption[] {
  const list = { kind: 'list', default: null } as const;
  return [
    option('--lr', { default: null }),
    option('--layers', list),
    ...declared.flatMap(([name, nargs, value]) =>
      name === 'train'
        ? [
            option('command', {
              ...{ kind: 'choice', default: null, required: true },
              ...{ choices: ['train'], is_command: true }
            }),
            option('--tags', { ...list, command: 'train' }),
            option('inputs', { ...list, command: 'train' }),
            option('target', {
              ...{ command: 'train', default: null, required: nargs !== '?' }
            })
          ]
        : option(name, {
            kind: nargs === null || nargs === '?' ? 'text' : 'list',
            items: typeof nargs === 'number' ? nargs : null,
            default: value ?? null,
            required: nargs !== '?' && nargs !== '*'
          })
    )
  ];
}

const PARSERS: Declared[][] = [
  [
    ['src', '?', 'data'],
    ['dst', '?', 'out']
  ],
  [
    ['src', '?'],
    ['dst', null]
  ],
  [
    ['a', null],
    ['b', null]
  ],
  [
    ['files', '+'],
    ['out', null]
  ],
  [
    ['files', '*'],
    ['out', null]
  ],
  [
    ['a', null],
    ['files', '*']
  ],
  [
    ['files', '+'],
    ['dst', '?', 'out']
  ],
  [
    ['pair', 2],
    ['src', '?', 'data'],
    ['out', null]
  ],
  [
    ['src', '?', 'data'],
    ['files', '+'],
    ['pair', 2]
  ],
  [['train', null]],
  [
    ['src', '?', 'data'],
    ['train', '?']
  ],
  [
    ['src', null],
    ['train', null]
  ]
];

/** Orders of words and options; W is the next word. */
const SHAPES = [
  ...['W', 'W W', 'W W W', 'W W W W', 'W W W W W'],
  ...['--lr 1 W W', 'W W --lr 1', 'W --lr 1 W', 'W W --lr 1 W', 'W --lr 1 W W'],
  ...['--lr 1 --lr 2 W W', 'W --layers 5 6', 'W W W --layers 5 6'],
  ...['--layers 5 6 --lr 1 W W', 'W --layers 5 --lr 1 W', '--lr 1 W W W W'],
  ...['--x W', 'W --x', 'W --x W', '--x W W', 'W --x W W', '--x --lr 1 W W'],
  ...['--x W --lr 1 W', '--x W --lr 1 W W', 'W --x W --lr 1 W'],
  ...['W -- W', 'W W -- W', '-- W W', 'W --lr 1 -- W', 'W -- -y W'],
  ...['train', 'train W', 'train W W', 'W train', 'W train W', 'W train W W'],
  ...['--lr 1 W train --tags 7 8', 'train --tags 7', 'train --tags 7 -- W W'],
  ...['W train W --tags 7', 'train W --tags 7 8', '--lr 1 train W W W'],
  ...['train W --tags 7 -- W', '--x train W', '--x W train W', 'W W train W'],
  ...['--layers 5 --lr 1 train W', 'W --lr 1 train W W']
];

const ARGS = SHAPES.map(shape => {
  const names = ['p', 'q', 'r', 's', 't'][Symbol.iterator]();
  return shape
    .split(' ')
    .map(word => (word === 'W' ? String(names.next().value) : word));
});

it.each(PARSERS.map(declared => [JSON.stringify(declared), declared] as const))(
  'does not change what argparse reads for %s',
  (_, declared) => {
    const options = optionsOf(declared);
    const cases = ARGS.flatMap(args => {
      const { values, more } = parseArgs(args, options);
      const { args: again, clashes } = composeArgs(options, values, more);
      const unread: Unread[] = ['store', 'store_true'];
      return (args.includes('--x') ? unread : [null]).map(one => ({
        ...{ args, again, values, clashes, unread: one }
      }));
    });
    const before = argparse(
      cases.map(({ args, unread }) => [declared, args, unread])
    );
    const after = argparse(
      cases.map(({ again, unread }) => [declared, again, unread])
    );
    const valid = cases.flatMap((one, index) => {
      const read = before[index];
      return read && !(one.unread && read[1].length)
        ? [{ ...one, read, again: after[index] }]
        : [];
    });
    expect(valid.length).toBeGreaterThan(3);
    for (const { args, read, again, values, clashes } of valid) {
      expect([args, again, clashes]).toEqual([args, read, []]);
      // What a positional's field shows is what argparse reads.
      const shown = options
        .filter(one => !one.flags.length && optionKey(one) in values)
        .map(one => {
          const text = String(values[optionKey(one)]);
          return [one.dest, one.kind === 'list' ? text.split(' ') : text];
        });
      const [known] = read;
      expect([args, { ...known, ...Object.fromEntries(shown) }]).toEqual([
        ...[args, known]
      ]);
    }
  }
);

it('gives argparse the values of the fields, or says that it can’t', () => {
  const cases: [Declared[], OptionValues][] = PARSERS.flatMap(declared => {
    const fields = optionsOf(declared).filter(one => one.flags.length === 0);
    // All sets of fields that have a value, with all that are required.
    return Array.from({ length: 2 ** fields.length }, (_, set) =>
      fields.filter((one, bit) => one.required || set & (1 << bit))
    ).map((given): [Declared[], OptionValues] => [
      declared,
      Object.fromEntries(
        given.map((one, index) => [
          optionKey(one),
          one.is_command
            ? 'train'
            : one.kind === 'list'
              ? `v${index} w${index}`
              : `v${index}`
        ])
      )
    ]);
  });
  const composed = cases.map(([declared, values]) =>
    composeArgs(optionsOf(declared), values, [])
  );
  const read = argparse(
    cases.map(([declared], index) => [declared, composed[index].args])
  );
  let clashing = 0;
  for (const [index, [declared, values]] of cases.entries()) {
    const wanted = Object.fromEntries(
      optionsOf(declared)
        .filter(one => optionKey(one) in values)
        .map(one => {
          const value = String(values[optionKey(one)]);
          return [one.dest, one.kind === 'list' ? value.split(' ') : value];
        })
    );
    const found = read[index];
    const isRead =
      found !== null &&
      found[1].length === 0 &&
      Object.entries(wanted).every(
        ([dest, value]) =>
          JSON.stringify(found[0][dest]) === JSON.stringify(value)
      );
    expect([declared, values, isRead]).toEqual([
      declared,
      values,
      composed[index].clashes.length === 0
    ]);
    clashing += composed[index].clashes.length;
  }
  expect(clashing).toBeGreaterThan(0);
  expect(clashing).toBeLessThan(cases.length / 3);
});

it.each<[Declared[], OptionValues, string[]]>([
  [PARSERS[0], { dst: '/tmp/res' }, ['data', '/tmp/res']],
  [PARSERS[0], { src: 'd' }, ['d']],
  [PARSERS[1], { dst: 'z' }, ['z']],
  [PARSERS[3], { files: 'a b c', out: 'z' }, ['a', 'b', 'c', 'z']]
])(
  'writes no more defaults of %j than needed: %j',
  (declared, values, args) => {
    expect(composeArgs(optionsOf(declared), values, []).args).toEqual(args);
  }
);

it('names the argument that would get the value of another', () => {
  const options = optionsOf([
    ['src', '?'],
    ['dst', '?']
  ]);
  expect(composeArgs(options, { dst: 'z' }, []).clashes).toMatchObject([
    { taker: { dest: 'src' }, isGiven: false, owner: { dest: 'dst' } }
  ]);
  const listed = optionsOf(PARSERS[6]);
  expect(
    composeArgs(listed, { files: 'a b', dst: 'z' }, []).clashes
  ).toMatchObject([
    { taker: { dest: 'files' }, isGiven: true, owner: { dest: 'dst' } }
  ]);
});
