import { composeArgs } from '../../../../src/launch/content/args/composeArgs';
import { parseArgs } from '../../../../src/launch/content/args/parseArgs';
import {
  defaultValue,
  isAcceptable,
  isChanged
} from '../../../../src/launch/content/scriptOptions';
import { option } from '../../launchFakes';

const OPTIONS = [
  option('--name', { flags: ['--name', '-n'] }),
  option('--epochs', { kind: 'int', default: '5' }),
  option('--amp', { kind: 'flag', default: 'True', off_flag: '--no-amp' }),
  option('--no_cuda', { kind: 'flag', default: 'False' }),
  option('--layers', { kind: 'list', default: '64 32' }),
  option('data', { default: null })
];

const round = (args: string[]): string[] => {
  const { values, more } = parseArgs(args, OPTIONS);
  return composeArgs(OPTIONS, values, more).args;
};

describe('parseArgs', () => {
  it.each([
    [['--name', 'a b'], { '--name': 'a b' }],
    [['-n', 'a'], { '--name': 'a' }],
    [['--name=a=b'], { '--name': 'a=b' }],
    [['--epochs', '-3'], { '--epochs': '-3' }],
    [['--no-amp'], { '--amp': false }],
    [['--no_cuda'], { '--no_cuda': true }],
    [
      ['--layers', '1', 'a b', '--epochs', '7'],
      { '--layers': "1 'a b'", '--epochs': '7' }
    ],
    [['file.txt', '--epochs', '7'], { data: 'file.txt', '--epochs': '7' }],
    [['--epochs', '7', 'file.txt'], { data: 'file.txt', '--epochs': '7' }]
  ])('puts %j into fields', (args, values) => {
    expect(parseArgs(args, OPTIONS)).toEqual({ values, more: [] });
  });

  it.each([
    [
      ['--unknown', 'v', '--epochs', '7'],
      ['--unknown', 'v']
    ],
    [
      ['--epochs', '7', '--epochs', '8'],
      ['--epochs', '8']
    ],
    [
      ['--name', ''],
      ['--name', '']
    ],
    [['--name', '--epochs', '7'], ['--name']],
    [['--no_cuda=1'], ['--no_cuda=1']],
    [
      ['--epochs', '7', '--', '--name', 'x'],
      ['--', '--name', 'x']
    ],
    [['a', 'b'], ['b']],
    [['--layers'], ['--layers']]
  ])('keeps what a field can’t show of %j', (args, more) => {
    expect(parseArgs(args, OPTIONS).more).toEqual(more);
  });

  it('loses nothing of what differs from a default', () => {
    const args = [
      '--name',
      'a b',
      '--epochs',
      '7',
      '--no-amp',
      '--no_cuda',
      '-x'
    ];
    expect(round(args)).toEqual(args);
    expect(round(['--epochs', '7', '-v', '-v', '--epochs', '9'])).toEqual([
      '--epochs',
      '7',
      '-v',
      '-v',
      '--epochs',
      '9'
    ]);
  });
});

describe('composeArgs', () => {
  it('gives only what differs from its default', () => {
    const values = { '--epochs': '5', '--amp': true, '--no_cuda': false };
    expect(composeArgs(OPTIONS, values, []).args).toEqual([]);
  });

  it('gives a required option even if it is what would be the default', () => {
    const needed = option('--config', { required: true });
    expect(composeArgs([needed], { '--config': 'x' }, []).args).toEqual([
      '--config',
      'x'
    ]);
  });

  it('attaches a value that looks like an option, but not a negative number', () => {
    expect(
      composeArgs(OPTIONS, { '--name': '-a b', '--epochs': '-3' }, []).args
    ).toEqual(['--name=-a b', '--epochs', '-3']);
  });

  it('keeps the owner of a positional after an unknown flag and a known one', () => {
    const args = ['--unknown', '--epochs', '7', 'file.txt'];
    expect(parseArgs(args, OPTIONS)).toEqual({
      values: { '--epochs': '7', data: 'file.txt' },
      more: ['--unknown']
    });
  });

  it.each([
    ['--lr', '-1e-5', ['--lr=-1e-5']],
    ['--lr', '-.5', ['--lr', '-.5']],
    ['-q', '-x', ['-q-x']]
  ])('writes %s %s as argparse reads it', (flag, value, args) => {
    expect(composeArgs([option(flag)], { [flag]: value }, []).args).toEqual(
      args
    );
  });

  it('keeps a positional away from a list that would swallow it', () => {
    const values = { '--layers': "1 'a b'", data: 'd' };
    expect(composeArgs(OPTIONS, values, ['m'])).toMatchObject({
      args: ['d', 'm', '--layers', '1', 'a b'],
      fields: ['data', null, '--layers', '--layers', '--layers']
    });
    expect(
      composeArgs(OPTIONS, { '--epochs': '7', data: 'd' }, []).args
    ).toEqual(['--epochs', '7', 'd']);
  });
});

it('tells what is given from what is changed', () => {
  const [, epochs, amp, noCuda] = OPTIONS;
  expect(isChanged(epochs, {})).toBe(false);
  expect(isChanged(epochs, { '--epochs': '5' })).toBe(false);
  expect(isChanged(epochs, { '--epochs': '6' })).toBe(true);
  expect(defaultValue(amp)).toBe(true);
  expect(isChanged(amp, { '--amp': false })).toBe(true);
  expect(defaultValue(noCuda)).toBe(false);
  const storeFalse = option('--quiet', {
    kind: 'flag',
    default: 'True',
    flag_value: false
  });
  expect(defaultValue(storeFalse)).toBe(false); // not given
});

it('accepts the numbers that Python does', () => {
  const int = option('--n', { kind: 'int' });
  const float = option('--f', { kind: 'float' });
  expect(
    ['1', '-2', '1_000', ' 3 '].filter(text => !isAcceptable(int, text))
  ).toEqual([]);
  expect(
    ['1.5', 'a', '', '1e3'].filter(text => isAcceptable(int, text))
  ).toEqual([]);
  expect(
    ['1', '-.5', '1e-3', '1.', 'inf', '-nan', '1_0.5'].filter(
      text => !isAcceptable(float, text)
    )
  ).toEqual([]);
  expect(
    ['a', '1,5', '.', 'e3', '1.0.0'].filter(text => isAcceptable(float, text))
  ).toEqual([]);
});

describe('other syntaxes', () => {
  const ASSIGNED = [
    option('lr', { flags: ['lr'], kind: 'float', syntax: 'assignment' }),
    option('model.pretrained', {
      flags: ['model.pretrained'],
      kind: 'flag',
      default: 'True',
      syntax: 'assignment'
    }),
    option('+debug', {
      flags: ['+debug'],
      kind: 'choice',
      syntax: 'assignment'
    })
  ];
  const EQUALS = [
    option('--compile', { kind: 'flag', default: 'True', syntax: 'equals' }),
    option('--out_dir', { default: 'out', syntax: 'equals' })
  ];
  const OPTIONAL = [
    option('--bf16', {
      kind: 'flag',
      default: 'False',
      value_optional: true,
      off_flag: '--bf16=False'
    }),
    option('--packing', {
      kind: 'flag',
      default: 'True',
      value_optional: true,
      off_flag: '--no_packing'
    })
  ];

  it.each([
    [['lr=0.1', 'model.pretrained=False', '+debug=fast'], [], ASSIGNED],
    [['~model', '+new.key=1', 'lr'], ['~model', '+new.key=1', 'lr'], ASSIGNED],
    [['--compile=False', '--out_dir=a=b'], [], EQUALS],
    [['--out_dir', 'x', '--compile'], ['--out_dir', 'x', '--compile'], EQUALS],
    [['--bf16', '--no_packing'], [], OPTIONAL]
  ])('reads %j and writes the same', (args, rest, options) => {
    const { values, more } = parseArgs(args, options);
    expect(more).toEqual(rest);
    expect(composeArgs(options, values, more).args).toEqual(args);
  });

  it('reads the value of a flag whose value is optional', () => {
    expect(parseArgs(['--packing', 'False', '--bf16=true'], OPTIONAL)).toEqual({
      values: { '--packing': false, '--bf16': true },
      more: []
    });
  });

  it('sets a flag that is assigned both ways', () => {
    const [, pretrained] = ASSIGNED;
    expect(defaultValue(pretrained)).toBe(true);
    const values = { 'model.pretrained': false };
    expect(composeArgs(ASSIGNED, values, []).args).toEqual([
      'model.pretrained=False'
    ]);
  });
});

describe('subcommands', () => {
  const options = [
    option('--seed'),
    option('command', {
      kind: 'choice',
      default: null,
      choices: ['train', 'eval'],
      is_command: true
    }),
    option('--lr', { command: 'train' }),
    option('--lr', { command: 'eval' })
  ];

  it.each([
    [['train', '--lr', '1'], { command: 'train', 'train --lr': '1' }, []],
    [
      ['--seed', '2', 'eval', '--lr', '1'],
      { '--seed': '2', command: 'eval', 'eval --lr': '1' },
      []
    ],
    [['test', '--lr', '1'], {}, ['test', '--lr', '1']]
  ])('reads %j and writes it again', (args, values, more) => {
    expect(parseArgs(args, options)).toEqual({ values, more });
    expect(composeArgs(options, values, more).args).toEqual(args);
  });

  it('leaves out the options of other subcommands', () => {
    const values = { command: 'eval', 'train --lr': '1' };
    expect(composeArgs(options, values, []).args).toEqual(['eval']);
  });
});
