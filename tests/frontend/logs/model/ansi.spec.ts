import {
  parseAnsi,
  parseLine,
  shownColors
} from '../../../../src/logs/model/ansi';

describe('parseAnsi', () => {
  it.each([
    ['https://pytorch.org/a', 'https://pytorch.org/a'],
    ['file:///work/train.py', 'file:///work/train.py'],
    ['javascript:alert(1)', null],
    ['data:text/html,x', null],
    ['//no.scheme', null]
  ])('shows the text of a link to %s', (address, url) => {
    const link = `a \x1b]8;id=1;${address}\x1b\\text\x1b]8;;\x07 b`;
    const { text, links } = parseAnsi(link);
    expect(text).toBe('a text b');
    expect(links).toEqual(url === null ? [] : [{ start: 2, end: 6, url }]);
  });

  it.each([
    ['user\u200badmin', 'user<U+200B>admin'],
    ['pay\u00adpal \ufeff\u2060', 'pay<U+00AD>pal <U+FEFF><U+2060>'],
    ['tag \u{e0041}', 'tag <U+E0041>'],
    ['a\u200db', 'a<U+200D>b'],
    [
      '\u{1f468}\u200d\u{1f4bb} \u0645\u06cc\u200c\u062e',
      '\u{1f468}\u200d\u{1f4bb} \u0645\u06cc\u200c\u062e'
    ]
  ])(
    'shows what is not seen, but for joiners within words: %s',
    (line, shown) => {
      expect(parseAnsi(line).text).toBe(shown);
    }
  );

  it('leaves out of a line that is being written a sequence without an end', () => {
    for (const end of ['\x1b', '\x1b[3', '\x1b[38;5;', '\x1b]8;;http']) {
      const line = { text: `10% ${end}`, partial: true, cut: false };
      expect(parseLine(line).text).toBe('10% ');
      expect(parseLine({ ...line, partial: false }).text).not.toBe('10% ');
    }
  });

  it('leaves plain text alone, tabs and HTML included', () => {
    const text = 'a\t<b onclick="x()">bold</b> & é 训练';
    expect(parseAnsi(text)).toEqual({ text, runs: [], links: [] });
  });

  it('reads the sixteen colours and attributes', () => {
    const { text, runs } = parseAnsi('\x1b[31mred\x1b[1m bold\x1b[0m plain');
    expect(text).toBe('red bold plain');
    expect(runs).toEqual([
      { start: 0, end: 3, style: { foreground: 1 } },
      { start: 3, end: 8, style: { foreground: 1, bold: true } }
    ]);
  });

  it('ends attributes one by one', () => {
    const { runs } = parseAnsi(
      '\x1b[1;3;31;44ma\x1b[22mb\x1b[23;39mc\x1b[49md'
    );
    expect(runs.map(run => run.style)).toEqual([
      { bold: true, italic: true, foreground: 1, background: 4 },
      { italic: true, foreground: 1, background: 4 },
      { background: 4 }
    ]);
    expect(runs[2].end).toBe(3);
  });

  it.each([
    ['38;5;9', 9],
    ['38;5;208', 'rgb(255, 135, 0)'],
    ['38;5;232', 'rgb(8, 8, 8)'],
    ['38;2;10;120;200', 'rgb(10, 120, 200)'],
    ['38:2::10:120:200', 'rgb(10, 120, 200)'],
    ['38:2:10:120:200', 'rgb(10, 120, 200)'],
    ['95', 13]
  ])('reads the colour %s', (code, foreground) => {
    expect(parseAnsi(`\x1b[${code}mx`).runs[0].style).toEqual({ foreground });
  });

  it('never lets anything but numbers into a colour', () => {
    for (const code of ['38;2;999;0;0', '38;5;300', '38;5', '38;2;1']) {
      expect(parseAnsi(`\x1b[${code}mx`)).toEqual({
        text: 'x',
        runs: [],
        links: []
      });
    }
  });

  it('shows other control sequences and characters by symbols', () => {
    const { text, runs } = parseAnsi('a\0b\x07c\x1b[2Jd\x7fe\x9b');
    expect(text).toBe('a␀b␇c␛[2Jd␡e<U+009B>');
    expect(runs.every(run => run.style.control)).toBe(true);
    expect(text.slice(runs[2].start, runs[2].end)).toBe('␛[2J');
  });

  it('drops what only erases', () => {
    expect(parseAnsi('\x1b[2K100%\x1b[K')).toMatchObject({
      text: '100%',
      runs: []
    });
  });

  it('shows characters that would turn the reading direction', () => {
    expect(parseAnsi('user\u202egnp.exe').text).toBe('user<U+202E>gnp.exe');
  });
});

describe('shownColors', () => {
  it.each([
    ['31', { foreground: 1 }],
    ['7', { foreground: 'base', background: 'text' }],
    ['7;31', { foreground: 'base', background: 1 }],
    // as loguru and rich mark what is critical
    ['41', { foreground: 'base', background: 1 }],
    ['97;44', { foreground: 'base', background: 4 }],
    ['38;2;0;0;0;43', { foreground: 'rgb(0, 0, 0)', background: 3 }]
  ])('keeps text readable: %s', (codes, colors) => {
    const [{ style }] = parseAnsi(`\x1b[${codes}mx`).runs;
    expect(shownColors(style)).toEqual(colors);
  });
});
