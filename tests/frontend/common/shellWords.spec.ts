import { joinWords, splitWords } from '../../../src/common/shellWords';

describe('splitWords', () => {
  it.each([
    ['', []],
    ['  a  b\tc\n', ['a', 'b', 'c']],
    [`--x "a b" 'c "d"'`, ['--x', 'a b', 'c "d"']],
    [`a"b"'c'\\ d`, ['abc d']],
    [`'' ""`, ['', '']],
    [
      '$HOME *.py ~ ; && $(x) `y`',
      ['$HOME', '*.py', '~', ';', '&&', '$(x)', '`y`']
    ],
    [`"a\\"b \\$c \\d"`, ['a"b $c \\d']],
    [`'\\'`, ['\\']],
    ['a\\\nb', ['ab']],
    ['训练 🙂', ['训练', '🙂']]
  ])('takes %j as a shell does, without expanding anything', (text, words) => {
    expect(splitWords(text)).toEqual({ words, error: null });
  });

  it.each([
    ['"a', 'quote'],
    [`a 'b`, 'quote'],
    [`"a\\"`, 'quote'],
    ['a\\', 'backslash']
  ])('refuses %j', (text, error) => {
    expect(splitWords(text)).toEqual({ words: null, error });
  });
});

describe('joinWords', () => {
  it.each([
    [['--epochs', '5', 'a/b.py', 'x=1'], '--epochs 5 a/b.py x=1'],
    [['', 'a b', '$HOME', '*'], `'' 'a b' '$HOME' '*'`],
    [["it's"], `'it'\\''s'`]
  ])('quotes %j only where it must', (words, text) => {
    expect(joinWords(words)).toBe(text);
  });

  it('is undone by splitWords, whatever the words are', () => {
    const odd = [
      '',
      ' ',
      "'",
      '"',
      '\\',
      '\n',
      '$(rm)',
      '-',
      'ü',
      `a'b"c\\d e`
    ];
    for (const a of odd) {
      for (const b of odd) {
        expect(splitWords(joinWords([a, a + b, b])).words).toEqual([
          a,
          a + b,
          b
        ]);
      }
    }
  });
});
