/** The server's clock. The server writes the times of jobs, and the browser's clock may differ from it. */

let offset = 0;

/**
 * Set the offset between the two clocks from a server message.
 *
 * @param time - Time of a message that has just arrived, in seconds since the epoch.
 */
export function setServerTime(time: number): void {
  offset = time - Date.now() / 1000;
}

/** Return the current time of the server's clock, in seconds since the epoch. */
export function serverNow(): number {
  return Date.now() / 1000 + offset;
}
