import type { RefusalCode } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import type { UpstreamNotes } from "../http/upstream-notes.ts";
import type { Fields } from "../message/fields.ts";
import type { RequestHead } from "../message/message.ts";

/**
 * The parts of a request that traces read (docs/features/tracing.md); an Exchange is one. Listeners and routes hold
 * tracers, and an exchange holds its listener and route: a separate type avoids a circular dependency.
 */
export type TracedRequest = {
  readonly connection: TracedPeer;
  readonly client: { readonly bytesSent: number };
  readonly version: RequestHead["version"];
  readonly method: string;
  /** The fields as the client sent them. */
  readonly received: Fields;
  /** Milliseconds on the monotonic clock. */
  readonly startedAtMs: number;
  readonly scheme: "http" | "https";
  readonly authority: string;
  /** Host for the upstream if a filter changes it. */
  readonly upstreamAuthority: string | undefined;
  readonly host: string;
  readonly path: string;
  readonly matchedPath: string;
  readonly publicPort: { readonly port: number };
  readonly clientIp: string;
  readonly route: { readonly id: string; readonly pattern: string } | undefined;
  readonly status: number;
  readonly bytesReceived: number;
  readonly tunnelBytesSent: number;
  readonly notes: UpstreamNotes | undefined;
  readonly upstreamService: string;
  readonly knownRequestId: string;
  readonly error: string;
  readonly reason: RefusalCode | undefined;
};

export type TracedPeer = {
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** True for the proxy's own questions to its hosts. */
  readonly isQuestion?: true;
};
