import type { Socket } from "node:net";
import { awake } from "../timing/awake-clock.ts";
import { AwakeTimer } from "../timing/awake-timer.ts";

export type CleartextProtocol = "http1" | "http2";

/** How the connection preface of HTTP/2 begins (RFC 9113 3.4); no HTTP/1 request does. */
const prefaceStart = "PRI ";

/**
 * Waits for the first bytes of a cleartext connection and distinguishes HTTP/2 with prior knowledge from HTTP/1. The bytes
 * are put back; `spentMs` says for how long the first of them had to wait. A connection that sends none within `timeoutMs` (0 = no
 * limit; `onSilent` is called), or ends, is closed without an answer.
 */
export function detectProtocol(
  socket: Socket,
  timeoutMs: number,
  events: {
    readonly onProtocol: (protocol: CleartextProtocol, spentMs: number) => void;
    readonly onSilent: () => void;
  },
): void {
  let bytes: Buffer = Buffer.alloc(0);
  /** When the first bytes came, if they did not decide. */
  let begunMs: number | undefined = undefined;
  const decide = (protocol: CleartextProtocol): void => {
    timer?.clear();
    socket.off("readable", onReadable);
    socket.off("end", onEnd);
    socket.off("close", onClose);
    socket.unshift(bytes);
    events.onProtocol(protocol, begunMs === undefined ? 0 : awake.nowMs - begunMs);
  };
  const onReadable = (): void => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    const start = bytes.toString("latin1", 0, prefaceStart.length);
    if (start === prefaceStart) decide("http2");
    else if (!prefaceStart.startsWith(start)) decide("http1");
    else begunMs ??= awake.nowMs;
  };
  const onEnd = (): void => void socket.destroy();
  // An unfinished method is answered by the HTTP/1 front, when its own time is over.
  const timer =
    timeoutMs > 0
      ? new AwakeTimer(() => {
          if (bytes.length > 0) return decide("http1");
          events.onSilent();
          onEnd();
        }, timeoutMs)
      : undefined;
  const onClose = (): void => timer?.clear();
  socket.on("readable", onReadable);
  socket.on("end", onEnd);
  socket.on("close", onClose);
}
