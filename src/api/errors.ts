/** Errors of requests to the REST API. */

import { ApiError as ApiErrorBody } from './types';

/** Error answer of the API, or a request without an answer. */
export class ApiError extends Error {
  constructor(
    /** HTTP status; 0 if the server did not answer. */
    readonly status: number,
    body: Partial<ApiErrorBody> & { message: string }
  ) {
    super(body.message);
    this.name = 'ApiError';
    this.code = body.code ?? null;
    this.field = body.field ?? null;
    this.line = body.line ?? null;
    this.column = body.column ?? null;
    this.hint = body.hint ?? null;
    this.verbatim = body.verbatim ?? null;
  }

  /** Machine-readable identifier of the error. */
  readonly code: string | null;
  /** JSON pointer to the invalid field of the request; null if no single field is invalid. */
  readonly field: string | null;
  /** Line of the error in a text of the request, from 1. */
  readonly line: number | null;
  /** Column of the error, from 1. */
  readonly column: number | null;
  /** Sentence that says what the user can do. */
  readonly hint: string | null;
  /** Verbatim message of the underlying system. */
  readonly verbatim: string | null;

  /** True if the route does not exist, because the server part is not installed or not enabled. */
  get serverPartMissing(): boolean {
    return this.code === 'ServerPartMissing';
  }
}

/** Return an error if it is an `ApiError`; throw it again otherwise, because it is a bug. */
export function expectApiError(error: unknown): ApiError {
  if (error instanceof ApiError) {
    return error;
  }
  throw error;
}
