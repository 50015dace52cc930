import {
  absolutePath,
  contentsPath,
  shownPath
} from '../../../src/common/contentsPath';

describe('paths', () => {
  it.each([
    ['/w/a/train.py', '/w', 'a/train.py'],
    ['/w', '/w', ''],
    ['/work/a', '/w', null],
    ['/a', '/', 'a'],
    ['/a', null, null]
  ])('%s below %s is %s for the contents API', (path, root, contents) => {
    expect(contentsPath(path, root)).toBe(contents);
  });

  it.each([
    ['/w/a', '/w'],
    ['/w', '/w'],
    ['/elsewhere', '/w'],
    ['/a', '/'],
    ['/', '/']
  ])('%s is the same after it was shown and typed below %s', (path, root) => {
    expect(absolutePath(shownPath(path, root), root)).toBe(path);
  });

  it('takes a typed path from the root on, without blanks at its ends', () => {
    expect(absolutePath('  ./a/b ', '/w/')).toBe('/w/a/b');
    expect(absolutePath('', '/w')).toBe('');
  });
});
