import {
  preferSettings,
  pressReload,
  themedUrl
} from '../../../../src/tensorboard/model/tensorboard';

const KEY = '_tb_global_settings';

describe('preferSettings', () => {
  beforeEach(() => window.localStorage.clear());

  it('switches auto-reload on, closes the settings pane, and keeps the rest', () => {
    window.localStorage.setItem(KEY, '{"theme":"dark"}');
    expect(preferSettings(window.localStorage)).toBe(true);
    expect(JSON.parse(window.localStorage.getItem(KEY) ?? '')).toEqual({
      theme: 'dark',
      autoReload: true,
      timeSeriesSettingsPaneOpened: false
    });
  });

  it('leaves what the user has chosen', () => {
    const chosen = '{"autoReload":false,"timeSeriesSettingsPaneOpened":true}';
    window.localStorage.setItem(KEY, chosen);
    expect(preferSettings(window.localStorage)).toBe(false);
    expect(window.localStorage.getItem(KEY)).toBe(chosen);
  });

  it('replaces broken settings', () => {
    window.localStorage.setItem(KEY, '{');
    expect(preferSettings(window.localStorage)).toBe(true);
  });
});

it('gives the page the theme, and the slash that it needs', () => {
  expect(themedUrl('/a/ui', true)).toBe('/a/ui/?darkMode=true');
  expect(themedUrl('/a/ui/', false)).toBe('/a/ui/?darkMode=false');
});

it('presses the page’s own button', () => {
  const page = document.implementation.createHTMLDocument();
  pressReload(page);
  page.body.innerHTML =
    '<app-header-reload><button></button></app-header-reload>';
  const pressed = jest.fn();
  page.querySelector('button')?.addEventListener('click', pressed);
  pressReload(page);
  expect(pressed).toHaveBeenCalledTimes(1);
});
