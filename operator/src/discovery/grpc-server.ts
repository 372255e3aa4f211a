import {
  Server,
  ServerCredentials,
  type ServerOptions,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import type { Result } from "@svc-gateway/common/values/result.ts";
import { maxMessageToProxyBytes, maxMessageToServerBytes, type Keepalive } from "@svc-gateway/proto/wire.ts";
import type { ServerIdentity } from "./server-identity.ts";
import { createTlsListener, type TlsListener, type TlsListenerOptions } from "./tls-listener.ts";

export type GrpcServerOptions = Omit<TlsListenerOptions, "onConnection"> & {
  readonly identity: ServerIdentity;
  readonly service: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
  readonly keepalive: Keepalive;
  readonly grpcOptions?: ServerOptions;
};

/** A gRPC server on its own TLS listener. */
export type GrpcServer = {
  /** Adjusts the number of calls of a peer. */
  onCall: TlsListener["onCall"];
  /** Binds the port and resolves with it. */
  listen(): Promise<Result<number>>;
  /** Stops accepting connections, lets ending calls finish, and closes open connections after a second. */
  close(): Promise<void>;
};

/**
 * Serves gRPC on TLS connections that `createTlsListener` has accepted and checked. gRPC's own listener neither limits
 * connections nor can change its certificate while it runs.
 */
export function createGrpcServer(options: GrpcServerOptions): GrpcServer {
  const { identity, keepalive } = options;
  const server = new Server({
    "grpc.max_receive_message_length": maxMessageToServerBytes,
    "grpc.max_send_message_length": maxMessageToProxyBytes,
    "grpc.keepalive_time_ms": keepalive.intervalMs,
    "grpc.keepalive_timeout_ms": keepalive.timeoutMs,
    "grpc.enable_channelz": 0,
    ...options.grpcOptions,
  });
  server.addService(options.service, options.implementation);
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const listener = createTlsListener({
    ...options,
    onConnection: (socket) => injector.injectConnection(socket),
  });
  const present = identity.current();
  if (present !== undefined) listener.setMaterial(present);
  const unsubscribe = identity.subscribe(listener.setMaterial);
  return {
    onCall: listener.onCall,
    listen: listener.listen,
    async close() {
      unsubscribe();
      // Closes each session when its last call has ended. It resolves too early to be awaited.
      server.tryShutdown(() => {});
      await listener.close(drainMs);
      server.forceShutdown();
    },
  };
}

/** Time for the last messages of ended calls. */
const drainMs = 1_000;
