/** The server's clock, as far as its messages tell: the times of jobs are the server's. */

let offset = 0;

/** Take over the server's clock from a message that has just arrived (seconds). */
export function setServerTime(time: number): void {
  offset = time - Date.now() / 1000;
}

/** The time now by the server's clock, in seconds since the epoch. */
export function serverNow(): number {
  return Date.now() / 1000 + offset;
}
