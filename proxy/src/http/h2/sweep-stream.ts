import type { ClientCloseReason } from "../../message/message.ts";
import type { FrontLimits } from "../front.ts";
import { ReadingPace } from "../reading-pace.ts";

/** The limits of time that a request of HTTP/2 has, in milliseconds, 0 = off. */
export type StreamLimits = Pick<FrontLimits, "bodyTimeoutMs" | "writeTimeoutMs">;

export type ExceededLimit = "body-timeout" | "write-timeout";

/** What a sweep sees of a request, and does to it. */
export type SweptStream = {
  readonly body: {
    /** Since when the client owes bytes of its request, milliseconds of the awake clock; 0: it owes none. */
    readonly waitingSinceMs: number;
    abort(reason: "timeout"): void;
  } | null;
  readonly headSent: boolean;
  /** Both sides of gRPC may be silent at any time. */
  readonly grpc: boolean;
  /** Content of the response that waits for the client, and content that the client has taken. */
  readonly heldBytes: number;
  readonly progressBytes: number;
  /** Set by the sweep that first finds something waiting. */
  pace: ReadingPace | undefined;
  countWaiting(): void;
  cut(reason: ClientCloseReason): void;
};

/** Ends what exceeded a limit and answers which one. */
export function sweepStream(
  stream: SweptStream,
  nowMs: number,
  { bodyTimeoutMs, writeTimeoutMs }: StreamLimits,
): ExceededLimit | undefined {
  const { body, headSent, grpc } = stream;
  const waitingSinceMs = body?.waitingSinceMs ?? 0;
  if (waitingSinceMs > 0 && !headSent && !grpc && bodyTimeoutMs > 0) {
    if (nowMs - waitingSinceMs >= bodyTimeoutMs) {
      body?.abort("timeout");
      return "body-timeout";
    }
  }
  stream.countWaiting();
  if (stream.heldBytes === 0) {
    stream.pace?.rest();
    return undefined;
  }
  stream.pace ??= new ReadingPace();
  if (!stream.pace.isStalled(nowMs, stream.progressBytes, writeTimeoutMs)) return undefined;
  stream.cut("timeout");
  return "write-timeout";
}
