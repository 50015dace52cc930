/** Lines in view, and lines to scroll into view. */

/** Ordinals of the first and last line in view. */
export interface ILogView {
  first: number;
  last: number;
}

/** Request to scroll a line into view. */
export interface ILogReveal {
  ordinal: number;
  align: 'start' | 'center' | 'nearest';
}
