/** Arguments that the form composes, as argparse itself reads them. */
import { execFileSync } from 'child_process';
import { composeArgs } from '../../../../src/launch/content/args/composeArgs';
import { parseArgs } from '../../../../src/launch/content/args/parseArgs';
import { OptionValues } from '../../../../src/launch/content/scriptOptions';
import { option } from '../../launchFakes';

const PARSE = `
import argparse, json, sys
def parser(commands):
    root = argparse.ArgumentParser(exit_on_error=False)
    root.add_argument('--lr', type=float, default=0.1)
    root.add_argument('--layers', nargs='*', default=[])
    root.add_argument('--size', nargs=2)
    root.add_argument('--resume', nargs='?', const='last')
    if commands:
        train = root.add_subparsers(dest='command').add_parser('train')
        train.add_argument('--lr', dest='train_lr')
        train.add_argument('--tags', nargs='+')
        train.add_argument('data', nargs='?')
    else:
        root.add_argument('data', nargs='?')
    return root
def parse(commands, args):
    try:
        known, unknown = parser(commands).parse_known_args(args)
        return [vars(known), unknown]
    except (argparse.ArgumentError, SystemExit) as error:
        return str(error)
print(json.dumps([parse(*case) for case in json.load(sys.stdin)]))
`;

const ROOT = [
  option('--lr', { kind: 'float', default: '0.1' }),
  option('--layers', { kind: 'list', default: null }),
  option('--size', { kind: 'list', items: 2, default: null }),
  option('--resume', { value_optional: true, default: null })
];
const PLAIN = [...ROOT, option('data', { default: null })];
const COMMANDS = [
  ...ROOT,
  option('command', {
    kind: 'choice',
    default: null,
    choices: ['train'],
    is_command: true
  }),
  option('--lr', { command: 'train', default: null }),
  option('--tags', { command: 'train', kind: 'list', default: null }),
  option('data', { command: 'train', default: null })
];

/** Values of fields, further arguments, and what argparse makes of both: its values, and arguments that it doesn't know. */
type Case = [OptionValues, string[], object, string[]];

/** Return what argparse makes of arguments. */
function parse(cases: [boolean, string[]][]): unknown[] {
  const output = execFileSync('python3', ['-c', PARSE], {
    input: JSON.stringify(cases),
    encoding: 'utf8'
  });
  return JSON.parse(output);
}

const NOTHING = { lr: 0.1, layers: [], size: null, resume: null };

it('gives argparse the values of the fields', () => {
  const cases: Case[] = [
    [{ '--layers': '1 2' }, ['x'], { layers: ['1', '2'], data: 'x' }, []],
    [
      { '--layers': '1 2', data: 'd' },
      ['x', '-v', 'y'],
      { layers: ['1', '2'], data: 'd' },
      ['x', '-v', 'y']
    ],
    [{ '--size': '1 2', data: 'd' }, [], { size: ['1', '2'], data: 'd' }, []],
    [
      { '--layers': '1', '--lr': '2' },
      ['--', '-x'],
      { layers: ['1'], lr: 2, data: '-x' },
      []
    ]
  ];
  const commanded: Case[] = [
    [{ '--layers': '1' }, [], { layers: ['1'] }, []],
    [{ '--layers': '1 2' }, [], { layers: ['1', '2'] }, []],
    [{ '--layers': '1 2', '--lr': '3' }, [], { layers: ['1', '2'], lr: 3 }, []],
    [{ '--size': '1 2' }, [], { size: ['1', '2'] }, []],
    [
      { '--layers': '1 2', 'train --tags': 'a b', 'train --lr': '5' },
      ['x', '--y'],
      {
        layers: ['1', '2'],
        tags: ['a', 'b'],
        train_lr: '5',
        data: 'x'
      },
      ['--y']
    ]
  ];
  const inCommands = commanded.map(([values, ...rest]): Case => [
    { ...values, command: 'train' },
    ...rest
  ]);
  const found = parse([
    ...cases.map(([values, more]): [boolean, string[]] => [
      false,
      composeArgs(PLAIN, values, more).args
    ]),
    ...inCommands.map(([values, more]): [boolean, string[]] => [
      true,
      composeArgs(COMMANDS, values, more).args
    ])
  ]);
  const train = { command: 'train', train_lr: null, tags: null };
  expect(found).toEqual([
    ...cases.map(([, , known, rest]) => [
      { ...NOTHING, data: null, ...known },
      rest
    ]),
    ...inCommands.map(([, , known, rest]) => [
      { ...NOTHING, data: null, ...train, ...known },
      rest
    ])
  ]);
});

it('does not change the meaning of arguments that it reads and writes again', () => {
  const plain = [
    ['--size', '3', '4', 'data'],
    ['data', '--size', '3', '4', '-v'],
    ['--layers', '1', '2', '--lr', '3', 'data'],
    ['-v', '--layers', '1', '2'],
    ['--resume', '--lr', '3', 'data'],
    ['--resume', 'x', 'data']
  ];
  const commands = [
    ['--lr', '1', 'train', '--lr', '2'],
    ['--lr', '1', '--lr', '3', 'train', '--lr', '2'],
    ['-v', 'train', '--lr', '2', 'data'],
    ['--lr', '1', '-v', '--layers', '1', '--lr', '7', 'train', 'data'],
    ['--size', '1', '2', 'train', 'data', '--tags', 'a', 'b'],
    ['train', '--tags', 'a', 'b', '--lr', '1', 'data']
  ];
  const again = (args: string[], commanded: boolean): string[] => {
    const options = commanded ? COMMANDS : PLAIN;
    const { values, more } = parseArgs(args, options);
    return composeArgs(options, values, more).args;
  };
  const cases = [
    ...plain.map((args): [boolean, string[]] => [false, args]),
    ...commands.map((args): [boolean, string[]] => [true, args])
  ];
  const written = cases.map(([commanded, args]): [boolean, string[]] => [
    commanded,
    again(args, commanded)
  ]);
  expect(parse(written)).toEqual(parse(cases));
  expect(again(commands[0], true)).toEqual(commands[0]);
});
