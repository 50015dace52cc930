/* global document, window */

/** An extension of somebody else's, as a bundler would have built it: it finds our module in the lab's shared scope. */
let scope;

(window._JUPYTERLAB ??= {})['t9kjob-consumer'] = {
  init(shared) {
    scope = shared;
  },
  async get() {
    const [{ get }] = Object.values(scope['jupyterlab_t9kjob']);
    const { CommandIDs, IJobs } = (await get())();
    const plugin = {
      id: 't9kjob-consumer:plugin',
      autoStart: true,
      requires: [IJobs],
      activate: (app, jobs) => {
        const node = document.createElement('output');
        document.body.append(node);
        jobs.changed.connect(() => {
          node.textContent = `consumer: ${jobs.jobs.length} jobs, ${jobs.connection.state}`;
        });
        void app.restored.then(() => app.commands.execute(CommandIDs.showJobs));
      }
    };
    return () => ({ __esModule: true, default: plugin });
  }
};
