/** Testing Library waits a second for an event, which is too short on a loaded machine. */
// Its settings alone: most test files draw nothing, and all of it would cost each of them a quarter of a second.
const { configure } = jest.requireActual<
  typeof import('@testing-library/react')
>('@testing-library/dom/dist/config');

configure({ asyncUtilTimeout: 60_000 });

export {};
