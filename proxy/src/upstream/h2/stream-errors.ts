import { errorCode } from "../../http2/frames/frame-types.ts";
import { upstreamError, type UpstreamError } from "../upstream-errors.ts";

/** The server has not processed the request. */
export const refusedError: UpstreamError = upstreamError("reset", "stream refused", { requestSent: false });

/** The connection ended in the middle of a response. */
export const closedError: UpstreamError = upstreamError("reset", "connection closed", { requestSent: true });

/** The error of a stream that was reset with a code before its response was complete. */
export function resetError(code: number): UpstreamError {
  if (code === errorCode.protocolError) {
    return upstreamError("invalid", "stream reset: PROTOCOL_ERROR", { requestSent: true });
  }
  const text = code === errorCode.noError ? "response cut off" : `stream reset: ${errorName(code)}`;
  return upstreamError("reset", text, { requestSent: true });
}

/** Names of RFC 9113 7 by code. */
const errorNames = [
  "NO_ERROR",
  "PROTOCOL_ERROR",
  "INTERNAL_ERROR",
  "FLOW_CONTROL_ERROR",
  "SETTINGS_TIMEOUT",
  "STREAM_CLOSED",
  "FRAME_SIZE_ERROR",
  "REFUSED_STREAM",
  "CANCEL",
  "COMPRESSION_ERROR",
  "CONNECT_ERROR",
  "ENHANCE_YOUR_CALM",
  "INADEQUATE_SECURITY",
  "HTTP_1_1_REQUIRED",
] as const;

const errorName = (code: number): string => errorNames[code] ?? `code ${code}`;
