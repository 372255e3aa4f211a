import type { Sender } from "../../../http2/connection/sender.ts";
import type { ResponseMemory } from "../../response-memory.ts";

/** What the front knows of a request besides its head. */
export type RequestFacts = {
  /** Undefined: none was declared. */
  readonly length: number | undefined;
  /** It came with END_STREAM: there is no body. */
  readonly hasEnded: boolean;
  /** Of extended CONNECT for a WebSocket, whose content is that of the tunnel: what a backend must prove to have read. */
  readonly webSocketKey: string | undefined;
  readonly isHead: boolean;
  readonly grpc: boolean;
};

/** What a stream needs from its connection. */
export type StreamHost<Stream> = {
  readonly sender: Sender;
  readonly memory: ResponseMemory;
  /** Content is on its way to the client. */
  countSent(bytes: number): void;
  /** `bytes` of the request have been taken. */
  take(stream: Stream, bytes: number): void;
  reset(stream: Stream, code: number): void;
  /** The response is complete. */
  onResponseEnd(stream: Stream): void;
  /** Shares among its streams what the socket has taken since this was called last. */
  creditPartlyTaken(): void;
};
