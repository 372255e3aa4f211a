import { connect, isIP, type OnReadOpts, type Socket } from "node:net";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { connectError, connectTimeoutError, nameError } from "./errors.ts";
import type { UpstreamClientOptions } from "./options.ts";
import type { UpstreamEndpoint, UpstreamError } from "./upstream.ts";

/** A TCP connection that is up, and the address at its other end. */
export type Connected = { readonly socket: Socket; readonly address: string };

export type ConnectOptions = Pick<UpstreamClientOptions, "connectTimeoutMs" | "resolver"> & {
  /** Reads into memory of the caller's choice instead of emitting `data`. */
  readonly onread?: OnReadOpts;
  /** Keep the writable side when the other end has closed its own. */
  readonly allowHalfOpen?: boolean;
};

export type ConnectAttempt = {
  /** Gives up silently. */
  cancel(): void;
};

/** After this long without a byte the kernel probes the peer, so that dead pooled connections are noticed. */
const keepAliveProbeMs = 60_000;

/**
 * Opens a TCP connection to an endpoint: resolves its name if it is one, then tries the addresses in order, each
 * with an equal share of the time that is left. `done` is called once, never before this function has returned.
 */
export function connectEndpoint(
  endpoint: UpstreamEndpoint,
  options: ConnectOptions,
  done: (result: Result<Connected, UpstreamError>) => void,
): ConnectAttempt {
  const timeoutMs = connectTimeoutOf(endpoint, options);
  const deadlineMs = performance.now() + timeoutMs;
  let socket: Socket | undefined;
  let timer: NodeJS.Timeout | undefined;
  let settled = false;

  const settle = (result: Result<Connected, UpstreamError>): void => {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    done(result);
  };

  const limit = (ms: number, expired: () => void): void => {
    clearTimeout(timer);
    if (timeoutMs > 0) timer = setTimeout(expired, Math.max(1, ms));
  };

  const tryAddress = (addresses: readonly string[], index: number): void => {
    const host = addresses[index] as string;
    const attempt = connect({
      host,
      port: endpoint.port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: keepAliveProbeMs,
      autoSelectFamily: false,
      ...(options.allowHalfOpen === true ? { allowHalfOpen: true } : undefined),
      ...(options.onread === undefined ? undefined : { onread: options.onread }),
    });
    socket = attempt;
    const failed = (error: UpstreamError): void => {
      abandon(attempt);
      if (settled) return;
      if (index + 1 < addresses.length) tryAddress(addresses, index + 1);
      else settle(fail(error));
    };
    limit((deadlineMs - performance.now()) / (addresses.length - index), () => failed(connectTimeoutError));
    attempt.once("error", (error: NodeJS.ErrnoException) => failed(connectError(error.code)));
    attempt.once("connect", () => {
      attempt.removeAllListeners("error");
      settle(ok({ socket: attempt, address: host }));
    });
  };

  const start = (addresses: Result<readonly string[], "unresolved">): void => {
    if (settled) return;
    if (addresses.ok) tryAddress(addresses.value, 0);
    else settle(fail(nameError));
  };

  if (isIP(endpoint.host) !== 0) {
    start(ok([endpoint.host]));
  } else {
    limit(timeoutMs, () => settle(fail(connectTimeoutError)));
    queueMicrotask(() => options.resolver.resolve(endpoint.host, start));
  }
  return {
    cancel() {
      settled = true;
      clearTimeout(timer);
      if (socket !== undefined) abandon(socket);
    },
  };
}

/** Limit of a connect to the endpoint in milliseconds: that of its Service, else the client's; 0 = none. */
export const connectTimeoutOf = (
  { limits }: UpstreamEndpoint,
  { connectTimeoutMs }: Pick<UpstreamClientOptions, "connectTimeoutMs">,
): number => limits?.connectTimeoutMs ?? connectTimeoutMs;

/** Destroys a socket whose further fate, late errors included, is of no interest. */
export function abandon(socket: Socket): void {
  socket.removeAllListeners();
  socket.on("error", () => undefined);
  socket.destroy();
}
