import type { ClientCloseReason } from "../../message/message.ts";
import type { FrontLimits } from "../front.ts";
import { ReadingPace } from "../reading-pace.ts";

/** The time limits of an HTTP/2 request, in milliseconds, 0 = off. */
export type StreamLimits = Pick<FrontLimits, "bodyTimeoutMs" | "writeTimeoutMs">;

export type ExceededLimit = "body-timeout" | "write-timeout";

/** A request as seen by a sweep. */
export type SweptStream = {
  readonly body: {
    /**
     * The time since which the proxy has waited for bytes of the body, in milliseconds of the awake clock; 0 if it does
     * not wait.
     */
    readonly waitingSinceMs: number;
    abort(reason: "timeout"): void;
  } | null;
  readonly headSent: boolean;
  /** True for gRPC, where both sides may be silent at any time. */
  readonly grpc: boolean;
  /** Response content that waits for the client, and content that the client has accepted, in bytes. */
  readonly heldBytes: number;
  readonly progressBytes: number;
  /** Set by the first sweep that finds waiting content. */
  pace: ReadingPace | undefined;
  countWaiting(): void;
  cut(reason: ClientCloseReason): void;
};

/** Ends the body or the stream if it exceeded a limit, and returns which one. */
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
