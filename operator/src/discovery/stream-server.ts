import { status } from "@grpc/grpc-js";
import { systemClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import { rawDiscoveryService } from "@svc-gateway/proto/service.ts";
import { defaultKeepalive, type Keepalive } from "@svc-gateway/proto/wire.ts";
import { createRateCap } from "./admission.ts";
import { createGrpcServer, type GrpcServer } from "./grpc-server.ts";
import type { ServerIdentity } from "./server-identity.ts";
import type { StreamRefusal } from "./stream-admission.ts";
import { serveCall, type DiscoveryCall, type ServedCall, type StreamCallOptions } from "./stream-call.ts";
import type { ConnectionLimits } from "./tls-listener.ts";

export type StreamServerOptions = Omit<StreamCallOptions, "clock"> & {
  readonly host?: string;
  readonly port: number;
  readonly identity: ServerIdentity;
  readonly clock?: Clock;
  readonly limits?: StreamLimits;
  readonly keepalive?: Keepalive;
};

export type StreamLimits = ConnectionLimits & { readonly maxStreams: number };

const defaultLimits: StreamLimits = {
  maxConnections: 4096,
  maxConnectionsPerAddress: 64,
  handshakeTimeoutMs: 10_000,
  maxStreams: 4096,
};

/** A proxy has one stream, and temporarily two. */
const maxStreamsPerConnection = 4;

/** Serves Stream: mutual TLS, one stream per proxy. See docs/discovery.md, "Stream". */
export function createStreamServer(options: StreamServerOptions): GrpcServer {
  const { metrics, log, clock = systemClock, limits = defaultLimits } = options;
  const served = new Set<ServedCall>();
  const mayWarn = createRateCap({ maxPerWindow: 60, windowMs: 60_000, nowMs: clock.nowMs });
  let isStopping = false;

  const reject = (fields: Readonly<Record<string, unknown>>): void => {
    metrics.streams.with({ result: "rejected" }).inc();
    if (mayWarn()) log.warn(fields, "stream rejected");
    else log.debug(fields, "stream rejected");
  };

  const onRefused = ({ code, message, principal }: StreamRefusal, peer: string): void =>
    reject({ code: status[code], reason: message, peer, ...(principal !== undefined && { principal }) });

  const Stream = (call: DiscoveryCall): void => {
    const one = serveCall(call, { ...options, clock, onRefused });
    served.add(one);
    const peer = call.getPeer();
    server.onCall(peer, 1);
    void one.closed.then(() => {
      served.delete(one);
      server.onCall(peer, -1);
    });
    if (isStopping) one.end(stopping);
    if (served.size <= limits.maxStreams) return;
    onRefused({ code: status.INTERNAL, message: "too many streams" }, call.getPeer());
    one.end({ code: status.INTERNAL, message: "too many streams" });
  };

  const server = createGrpcServer({
    ...options,
    limits,
    service: { Stream: rawDiscoveryService.Stream },
    implementation: { Stream },
    requireClientCertificate: true,
    onUntrusted: (peer, reason) => reject({ reason, peer }),
    keepalive: options.keepalive ?? defaultKeepalive,
    grpcOptions: { "grpc.max_concurrent_streams": maxStreamsPerConnection },
  });

  return {
    ...server,
    close() {
      isStopping = true;
      for (const one of [...served]) one.end(stopping);
      return server.close();
    },
  };
}

const stopping: StreamRefusal = { code: status.UNAVAILABLE, message: "this replica is stopping" };
