import { fieldsOf } from '../../../../src/experiments/model/fields';
import { readFilter } from '../../../../src/common/filter/compile';
import {
  complete,
  writeName,
  writeValue
} from '../../../../src/common/filter/complete';
import { FilterProblem } from '../../../../src/common/filter/parse';
import { columnsOf, someMetric, someRun } from '../runFakes';

const RUNS = [
  someRun('vit', {
    parameters: { lr: 0.001, model: 'vit-s16', amp: true, 'odd name': 1 },
    metrics: { 'val.accuracy': someMetric(0.98, { max: 0.99 }) },
    tags: ['report', 'x'],
    environment: { python: '3.11' }
  }),
  someRun('resnet', {
    parameters: { lr: 0.1, model: 'resnet50', amp: false, seed: null },
    metrics: { 'val.accuracy': someMetric('nan', { max: 0.9 }) },
    job: {
      ...{ id: 'local::a', engine: 'local', namespace: '' },
      ...{ uid: '1', name: 'job 1' }
    }
  }),
  someRun('empty', { archived: true })
];
const FIELDS = fieldsOf(columnsOf(RUNS), {
  modes: {},
  goals: {},
  steps: {},
  readStep: () => null
});

/** Names of the runs that an expression lets through. */
function found(text: string, fields = FIELDS): string[] {
  const filter = readFilter(text, fields);
  return RUNS.filter(filter?.matches ?? (() => true)).map(({ name }) => name);
}

/** The error of an expression: its code, its place and the suggestion. */
function problem(text: string): unknown {
  try {
    readFilter(text, FIELDS);
  } catch (error) {
    const { code, place, suggestion } = error as FilterProblem;
    return [code, place.start, place.end, suggestion];
  }
  return null;
}

describe('a filter', () => {
  it.each([
    ['', ['vit', 'resnet', 'empty']],
    ['lr < 0.01', ['vit']],
    ['lr>=1e-3 and val.accuracy>0.95', ['vit']],
    ['lr = 0.1 or lr = 1e-3', ['vit', 'resnet']],
    ['lr = 0.1 or lr = 1e-3 and amp', ['vit', 'resnet']],
    ['(lr = 0.1 or lr = 1e-3) and amp', ['vit']],
    ['NOT amp', ['resnet', 'empty']],
    ['amp = false', ['resnet']],
    ['model in (vit-s16, "b")', ['vit']],
    ['model not in [vit-s16]', ['resnet', 'empty']],
    ['model ~ NET', ['resnet']],
    ['model !~ net', ['vit', 'empty']],
    ['model != vit-s16', ['resnet', 'empty']],
    ['run.tag = report', ['vit']],
    ['run.tag != report', ['resnet', 'empty']],
    ["run.job = 'job 1'", ['resnet']],
    ['`odd name` = 1', ['vit']],
    ['env.python = 3.11', ['vit']],
    ['seed = none', ['resnet']],
    ['run.name in (vit, empty)', ['vit', 'empty']]
  ])('%s', (text, names) => {
    expect(found(text)).toEqual(names);
  });

  it('compares the value of a metric that the column shows', () => {
    const modes = { 'val.accuracy': 'last' } as const;
    const last = fieldsOf(columnsOf(RUNS), {
      ...{ modes, goals: {}, steps: {} },
      readStep: () => null
    });
    expect(found('val.accuracy > 0.985')).toEqual(['vit']);
    expect(found('val.accuracy > 0.985', last)).toEqual([]);
    expect(found('val.accuracy = nan', last)).toEqual(['resnet']);
  });

  it.each([
    ['lr <', ['value', 4, 4, null]],
    ['lr < fast', ['number', 5, 9, null]],
    ['lr < 1 model = x', ['extra', 7, 12, null]],
    ['and lr < 1', ['name', 0, 3, null]],
    ['lr 1', ['operator', 3, 4, null]],
    ['lr in 1', ['list', 6, 7, null]],
    ['lr in (1 2)', ['close', 9, 10, null]],
    ['(lr < 1', ['close', 7, 7, null]],
    ['model = "vit', ['quote', 8, 12, null]],
    ['val.acuracy > 1', ['unknown', 0, 11, 'val.accuracy']],
    ['constructor = 1', ['unknown', 0, 11, null]],
    [`${'('.repeat(10_000)}lr`, ['deep', 51, 52, null]]
  ])('%s is refused at its place', (text, expected) => {
    expect(problem(text)).toEqual(expected);
  });

  it('proposes names with their ranges where a name is expected', () => {
    const names = (text: string): unknown =>
      complete(text, text.length, FIELDS, RUNS)?.proposals.map(
        ({ name, range }) => [name, range]
      ) ?? null;
    expect(names('lr < 1 and val')).toEqual([['val.accuracy', [0.9, 0.99]]]);
    expect(names('mod')).toEqual([['model', null]]);
    expect(names('model = vi')).toBeNull();
    expect(names('model in (vi')).toBeNull();
    expect(names('lr < 1 an')).toBeNull();
    expect(names('')).toBeNull();
  });

  it('writes names and values so that they are read as they are', () => {
    expect(found(`${writeName('odd name')} = 1`)).toEqual(['vit']);
    expect(found(`run.job = ${writeValue('job 1')}`)).toEqual(['resnet']);
    expect(writeValue('vit')).toBe('vit');
    expect(writeValue('1')).toBe('"1"');
  });
});
