import { asKind } from '../../../../src/launch/content/entrypoints';
import { fieldOf } from '../../../../src/launch/content/fieldPointers';
import { formOf, specOf, withMore } from '../../../../src/launch/content/form';
import {
  withName,
  withOption,
  withWorkingDir
} from '../../../../src/launch/content/logDirs';
import { OPTIONS, somePrefill, someSpec } from '../../launchFakes';

const form = (): ReturnType<typeof formOf> => formOf(someSpec(), OPTIONS);
const [, , , LOG_DIR, SAVE_PATH] = OPTIONS;

describe('a launch form', () => {
  it('amounts to the spec that it was laid out from', () => {
    expect(specOf(form(), OPTIONS)).toEqual(someSpec());
  });

  it('amounts to no unfinished variable and no empty log directory', () => {
    const spec = specOf(
      {
        ...form(),
        spec: someSpec({
          tensorboard: { log_dirs: ['', '/a'], cluster: null }
        }),
        env: [
          { name: '', value: '', secret: null },
          { name: 'A', value: '1', secret: null }
        ]
      },
      OPTIONS
    );
    expect(spec.env.map(({ name }) => name)).toEqual(['A']);
    expect(spec.tensorboard.log_dirs).toEqual(['/a']);
  });
});

describe('the name', () => {
  it('carries along the directories that hold it', () => {
    const spec = specOf(withName(form(), 'other', somePrefill()), OPTIONS);
    expect(spec).toEqual(someSpec({ name: 'other' }));
  });

  it('leaves alone what the user has changed', () => {
    let changed = withOption(form(), LOG_DIR, 'elsewhere/train-1');
    changed = withOption(changed, SAVE_PATH, 'runs/train-10/model.pt');
    const spec = specOf(withName(changed, 'other', somePrefill()), OPTIONS);
    expect(spec.args).toEqual([
      '--log_dir',
      'elsewhere/train-1',
      '--save_path',
      'runs/train-10/model.pt'
    ]);
  });
});

describe('the log directory', () => {
  it('is where the script writes', () => {
    const logDirs = (next: ReturnType<typeof form>): string[] =>
      next.spec.tensorboard.log_dirs;
    const other = withOption(form(), LOG_DIR, './logs/');
    expect(logDirs(other)).toEqual(['/w/mnist/logs']);
    expect(logDirs(withOption(other, LOG_DIR, null))).toEqual([
      '/w/mnist/runs'
    ]);
    expect(logDirs(withOption(other, LOG_DIR, '/abs'))).toEqual(['/abs']);
    expect(logDirs(withWorkingDir(other, '/w', OPTIONS))).toEqual(['/w/logs']);
  });

  it('stays once the user has put it elsewhere', () => {
    const spec = someSpec({
      tensorboard: { log_dirs: ['/mine'], cluster: null }
    });
    const other = withOption(formOf(spec, OPTIONS), LOG_DIR, 'logs');
    expect(other.spec.tensorboard.log_dirs).toEqual(['/mine']);
  });
});

it('keeps the last arguments in force while a quote is open', () => {
  const open = withMore(withMore(form(), '--x 1'), '--x "1');
  expect(open.more).toBe('--x "1');
  expect(specOf(open, OPTIONS).args.slice(-2)).toEqual(['--x', '1']);
});

it('finds the field that the server means', () => {
  const filled = {
    ...withMore(form(), '--other'),
    env: [
      { name: '', value: '', secret: null },
      { name: 'A', value: '1', secret: null }
    ]
  };
  const field = (pointer: string): string => fieldOf(pointer, filled, OPTIONS);
  expect(field('/spec/name')).toBe('/name');
  expect(field('/specs')).toBe('/specs');
  expect(field('/spec/args/3')).toBe('--save_path');
  expect(field('/spec/args/4')).toBe('/args');
  expect(field('/spec/env/0')).toBe('/env/1/name');
  expect(field('/spec/env/0/value')).toBe('/env/1/value');
  expect(field('/spec/entrypoint')).toBe('/entrypoint/value');
  expect(field('/torchrun/extra_options/0')).toBe('/torchrun/extra_options');
});

it('runs a file in another way', () => {
  expect(asKind('module', 'pkg/mod.py', '/w')).toEqual({
    value: 'pkg.mod',
    working_dir: '/w'
  });
  expect(asKind('script', 'pkg/mod.py', '/w')).toEqual({
    value: '/w/pkg/mod.py',
    working_dir: '/w/pkg'
  });
});
