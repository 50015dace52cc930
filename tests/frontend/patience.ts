/** Testing Library waits a second for an event, which is too short on a loaded machine. */
import { configure } from '@testing-library/react';

configure({ asyncUtilTimeout: 60_000 });
