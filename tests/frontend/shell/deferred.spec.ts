import { nullTranslator } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { screen, waitFor } from '@testing-library/dom';
import { DeferredWidget } from '../../../src/shell/deferred';

const trans = nullTranslator.load('');

class Content extends Widget {
  readonly activated = jest.fn();

  protected override onActivateRequest(): void {
    this.activated();
  }
}

describe('a place whose content is loaded on first use', () => {
  let content: Content;
  let answer: Promise<Content>;
  let load: jest.Mock<Promise<Content>>;
  let widget: DeferredWidget<Content>;

  beforeEach(() => {
    content = new Content();
    content.node.textContent = 'the content';
    content.title.label = 'Its title';
    answer = Promise.resolve(content);
    load = jest.fn(() => answer);
    widget = new DeferredWidget<Content>({ load, trans });
    widget.node.tabIndex = -1;
    Widget.attach(widget, document.body);
  });

  afterEach(() => {
    widget.dispose();
    jest.restoreAllMocks();
  });

  it('says nothing while loading is fast', async () => {
    const loading = widget.load();
    expect(widget.node.textContent).toBe('');
    await loading;
    expect(await widget.loaded).toBe(content);
    expect(widget.node.textContent).toBe('the content');
    expect(widget.title.label).toBe('Its title');
    content.title.label = 'Another';
    expect(widget.title.label).toBe('Another');
  });

  it('says that it is loading where that takes long', async () => {
    answer = new Promise(() => undefined);
    void widget.load();
    expect(await screen.findByText('Loading…')).toBeTruthy();
    expect(screen.getByRole('status').textContent).toBe('Loading…');
  });

  it('loads once, whoever asks', async () => {
    await Promise.all([widget.load(), widget.load()]);
    await widget.load();
    expect(load).toHaveBeenCalledTimes(1);
  });

  it('gives the focus to the content as soon as it is there', async () => {
    widget.activate();
    await new Promise(requestAnimationFrame);
    expect(document.activeElement).toBe(widget.node);
    await widget.load();
    await new Promise(requestAnimationFrame);
    expect(content.activated).toHaveBeenCalledTimes(1);
    widget.activate();
    await new Promise(requestAnimationFrame);
    expect(content.activated).toHaveBeenCalledTimes(2);
  });

  it('leaves the focus where it is if that is elsewhere', async () => {
    await widget.load();
    await new Promise(requestAnimationFrame);
    expect(content.activated).not.toHaveBeenCalled();
  });

  it('says in its place that loading failed, and tries again when asked', async () => {
    const warn = jest.spyOn(console, 'warn').mockImplementation();
    const error = new Error('Loading chunk 7 failed.');
    error.name = 'ChunkLoadError';
    answer = Promise.reject(error);
    await widget.load();
    const alert = await screen.findByRole('alert');
    expect(alert.textContent).toContain('could not be loaded');
    expect(alert.textContent).toContain('Loading chunk 7 failed.');
    expect(alert.textContent).toContain('The server cannot be reached');
    expect(warn).toHaveBeenCalledTimes(1);

    answer = Promise.resolve(content);
    const again = screen.getByRole('button', { name: 'Try again' });
    again.focus();
    again.click();
    await waitFor(() => expect(widget.content).toBe(content));
    expect(screen.queryByRole('alert')).toBeNull();
    await new Promise(requestAnimationFrame);
    expect(content.activated).toHaveBeenCalled();
  });

  it('tries again when another one could be loaded', async () => {
    jest.spyOn(console, 'warn').mockImplementation();
    answer = Promise.reject(new Error('Loading chunk 7 failed.'));
    await widget.load();
    answer = Promise.resolve(content);
    const another = new DeferredWidget<Content>({
      load: () => Promise.resolve(new Content()),
      trans
    });
    await another.load();
    await waitFor(() => expect(widget.content).toBe(content));
    another.dispose();
  });

  it('does not guess why its content could not be created', async () => {
    jest.spyOn(console, 'warn').mockImplementation();
    answer = Promise.reject(new Error('Out of order.'));
    await widget.load();
    const alert = await screen.findByRole('alert');
    expect(alert.textContent).toContain('Out of order.');
    expect(alert.textContent).not.toContain('The server');
  });

  it('goes with its content when it is closed', async () => {
    await widget.load();
    widget.close();
    expect(widget.isDisposed).toBe(true);
    expect(content.isDisposed).toBe(true);
  });

  it('keeps nothing that comes after it was closed', async () => {
    const loading = widget.load();
    widget.dispose();
    await loading;
    expect(content.isDisposed).toBe(true);
    expect(widget.content).toBeNull();
    expect(await widget.loaded).toBeNull();
  });
});
