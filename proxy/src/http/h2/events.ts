import type { ClientConnection } from "../connection.ts";

/** Something that the HTTP/2 front decided without the pipeline: for counters and debug logs. */
export type Http2FrontEvent = {
  readonly connection: ClientConnection;
  readonly kind: "flood" | "limit" | "timeout" | "protocol-error";
  /** Fixed wording, such as `stream resets` or `header list too large`. */
  readonly text: string;
};

export type Http2FrontEventHandler = (event: Http2FrontEvent) => void;
