import type { HeaderList } from "./message.ts";

/** An answer of the proxy itself. */
export type LocalReply = {
  readonly status: number;
  /** Additional fields, such as `Location` or `Retry-After`. */
  readonly headers?: HeaderList;
  /** Absent: the standard body `<code> <reason>\n`. An empty string: no body. */
  readonly body?: string;
  /** Short fixed text for the access log. */
  readonly error?: string;
  /** True when the connection must not be used again (framing is in doubt). */
  readonly close?: boolean;
};
