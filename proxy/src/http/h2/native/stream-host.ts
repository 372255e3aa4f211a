import type { Sender } from "../../../http2/connection/sender.ts";
import type { ResponseMemory } from "../../response-memory.ts";

/** Facts about a request besides its head. */
export type RequestFacts = {
  /** The declared length of the body; undefined if none was declared. */
  readonly length: number | undefined;
  /** True if the head has END_STREAM, so that there is no body. */
  readonly hasEnded: boolean;
  /** The key that a backend must prove to have read; set for extended CONNECT, whose content is that of a tunnel. */
  readonly webSocketKey: string | undefined;
  readonly isHead: boolean;
  readonly grpc: boolean;
};

/** The connection of a stream, as far as the stream depends on it. */
export type StreamHost<Stream> = {
  readonly sender: Sender;
  readonly memory: ResponseMemory;
  /** Called when content is sent to the client. */
  countSent(bytes: number): void;
  /** Called when `bytes` of the request have been accepted; renews the windows. */
  take(stream: Stream, bytes: number): void;
  reset(stream: Stream, code: number): void;
  /** Called when the response is complete. */
  onResponseEnd(stream: Stream): void;
  /** Divides the bytes that the socket has accepted since the last call among the waiting streams (partly-taken.ts). */
  creditPartlyTaken(): void;
};
