import type { sendUnaryData, ServerUnaryCall } from "@grpc/grpc-js";
import { systemClock } from "@svc-gateway/common/time/clock.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { formatIdentity } from "@svc-gateway/proto/identity.ts";
import { rawDiscoveryService } from "@svc-gateway/proto/service.ts";
import { defaultKeepalive } from "@svc-gateway/proto/wire.ts";
import { createRateCap } from "./admission.ts";
import {
  bootstrapCodes,
  createBootstrap,
  type BootstrapOptions,
  type BootstrapReason,
  type BootstrapRejection,
} from "./bootstrap.ts";
import { createGrpcServer, type GrpcServer } from "./grpc-server.ts";
import type { DiscoveryServerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import type { ServerIdentity } from "./server-identity.ts";
import type { ConnectionLimits } from "./tls-listener.ts";

export type BootstrapServerOptions = BootstrapOptions & {
  readonly host?: string;
  readonly port: number;
  readonly identity: ServerIdentity;
  readonly metrics: DiscoveryServerMetrics;
  readonly log: Logger;
  /** Called for the Event `BootstrapRejected`, at most `maxReportsPerMinute` times in any minute. */
  readonly onRejected?: (rejection: { readonly reason: BootstrapReason; readonly principal: string }) => void;
  readonly limits?: ConnectionLimits;
};

const defaultLimits: ConnectionLimits = {
  maxConnections: 512,
  // Proxies on one node can share an address, but one address cannot use all places.
  maxConnectionsPerAddress: 128,
  handshakeTimeoutMs: 10_000,
};

/** A bootstrap is one call, so the server closes connections soon after it. */
const shortConnections = {
  "grpc.max_connection_idle_ms": 30_000,
  "grpc.max_connection_age_ms": 60_000,
  "grpc.max_connection_age_grace_ms": 15_000,
  "grpc.max_concurrent_streams": 8,
};

const maxReportsPerMinute = 10;

/** Serves Bootstrap: TLS with server authentication only. See docs/discovery.md, "Bootstrap". */
export function createBootstrapServer(options: BootstrapServerOptions): GrpcServer {
  const { metrics, log, onRejected, clock = systemClock } = options;
  const bootstrap = createBootstrap(options);
  // Every series exists at zero, so that the first rejection is an increase.
  metrics.bootstraps.with({ result: "accepted", reason: "ok" });
  for (const reason of Object.keys(bootstrapCodes)) metrics.bootstraps.with({ result: "rejected", reason });
  const mayReport = createRateCap({
    maxPerWindow: maxReportsPerMinute,
    windowMs: 60_000,
    nowMs: clock.nowMs,
  });

  const reportRejection = (
    { reason, message, principal = "unknown" }: BootstrapRejection,
    peer: string,
  ): void => {
    metrics.bootstraps.with({ result: "rejected", reason }).inc();
    const fields = { reason, detail: message, principal, peer };
    if (!mayReport()) return log.debug(fields, "bootstrap rejected");
    log.warn(fields, "bootstrap rejected");
    onRejected?.({ reason, principal });
  };

  const answer = async (
    call: ServerUnaryCall<Buffer, Buffer>,
    callback: sendUnaryData<Buffer>,
  ): Promise<void> => {
    const result = await bootstrap(call.request);
    if (!result.ok) {
      reportRejection(result.error, call.getPeer());
      return callback({ code: bootstrapCodes[result.error.reason], details: detailsOf(result.error) });
    }
    const { response, principal } = result.value;
    metrics.bootstraps.with({ result: "accepted", reason: "ok" }).inc();
    metrics.svidsIssued.with({}).inc();
    log.info(
      {
        principal: formatIdentity(principal),
        ...(principal.pod !== undefined && { pod: principal.pod.name }),
        not_after: new Date(response.not_after_unix * 1000).toISOString(),
      },
      "workload identity issued",
    );
    callback(null, Buffer.from(response.serialize()));
  };

  const Bootstrap = (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>): void => {
    const peer = call.getPeer();
    server.onCall(peer, 1);
    const answered = answer(call, callback).catch((error: unknown) => {
      const rejection: BootstrapRejection = { reason: "internal", message: "internal error" };
      log.error({ reason: String(error) }, "bootstrap failed");
      reportRejection(rejection, call.getPeer());
      callback({ code: bootstrapCodes.internal, details: detailsOf(rejection) });
    });
    void answered.finally(() => server.onCall(peer, -1));
  };

  const server = createGrpcServer({
    ...options,
    limits: options.limits ?? defaultLimits,
    service: { Bootstrap: rawDiscoveryService.Bootstrap },
    implementation: { Bootstrap },
    requireClientCertificate: false,
    onUntrusted: () => {},
    keepalive: defaultKeepalive,
    grpcOptions: shortConnections,
  });
  return server;
}

/** Returns the message for the caller. Reasons of the API server are not shown to unauthenticated callers. */
function detailsOf({ reason, message }: BootstrapRejection): string {
  switch (reason) {
    case "sa_token":
      return "the token is not valid";
    case "token_review_error":
      return "the token cannot be reviewed now";
    case "signing_error":
    case "internal":
      return "the request cannot be served now";
    default:
      return message;
  }
}
