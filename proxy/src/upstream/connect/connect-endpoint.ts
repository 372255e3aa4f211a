import { isIP, type Socket } from "node:net";
import { isNodeLocal, reachableIps } from "@svc-gateway/common/values/reachable-ip.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { awake } from "../../timing/awake-clock.ts";
import { AwakeTimer } from "../../timing/awake-timer.ts";
import type { UpstreamEndpoint } from "../upstream.ts";
import {
  connectTimeoutError,
  nameError,
  nodeLocalError,
  ownPortError,
  tlsError,
  type UpstreamError,
} from "../upstream-errors.ts";
import { AddressAttempt } from "./address-attempt.ts";
import { connectTimeoutOf, type ConnectOptions } from "./options.ts";

/** An established connection, including TLS, and the address of its peer. */
export type Connected = { readonly socket: Socket; readonly address: string };

export type ConnectAttempt = {
  /** Ends the attempt without a call of `done`. */
  cancel(): void;
};

/**
 * Opens a connection to an endpoint: resolves its name if it is one, then tries the addresses in order, each with an
 * equal share of the time that is left, for TCP and TLS together. `done` is called once, never before this function has
 * returned.
 */
export function connectEndpoint(
  endpoint: UpstreamEndpoint,
  options: ConnectOptions,
  done: (result: Result<Connected, UpstreamError>) => void,
): ConnectAttempt {
  const connecting = new Connecting(endpoint, options, done);
  connecting.start();
  return connecting;
}

class Connecting implements ConnectAttempt {
  private readonly endpoint: UpstreamEndpoint;
  private readonly options: ConnectOptions;
  private readonly done: (result: Result<Connected, UpstreamError>) => void;
  /** Limit of name resolution and all addresses together, in milliseconds; 0 = none. */
  private readonly timeoutMs: number;
  private readonly deadlineMs: number;
  private attempt: AddressAttempt | undefined;
  private nameTimer: AwakeTimer | undefined;
  private settled = false;

  constructor(
    endpoint: UpstreamEndpoint,
    options: ConnectOptions,
    done: (result: Result<Connected, UpstreamError>) => void,
  ) {
    this.endpoint = endpoint;
    this.options = options;
    this.done = done;
    this.timeoutMs = options.limitMs ?? connectTimeoutOf(endpoint, options);
    this.deadlineMs = awake.nowMs + this.timeoutMs;
  }

  start(): void {
    const { host, tls } = this.endpoint;
    if (tls !== undefined && "refused" in tls) return this.refuse(tlsError(tls.refused));
    if (isIP(host) !== 0) {
      const refusal = refusalOf(host, this.endpoint, this.options);
      return refusal === undefined ? this.tryAddress([host], 0) : this.refuse(refusal);
    }
    if (this.timeoutMs > 0) {
      this.nameTimer = new AwakeTimer(() => this.settle(fail(connectTimeoutError)), this.timeoutMs);
    }
    queueMicrotask(() => this.options.resolver.resolve(host, this.onResolved));
  }

  cancel(): void {
    this.settled = true;
    this.nameTimer?.clear();
    this.attempt?.cancel();
  }

  private refuse(error: UpstreamError): void {
    queueMicrotask(() => this.settle(fail(error)));
  }

  private readonly onResolved = (addresses: Result<readonly string[], "unresolved">): void => {
    if (this.settled) return;
    this.nameTimer?.clear();
    if (!addresses.ok) return this.settle(fail(nameError));
    const allowed = addresses.value.filter((ip) => refusalOf(ip, this.endpoint, this.options) === undefined);
    const [first = ""] = addresses.value;
    if (allowed.length > 0) this.tryAddress(allowed, 0);
    else this.settle(fail(refusalOf(first, this.endpoint, this.options) ?? nameError));
  };

  private tryAddress(addresses: readonly string[], index: number): void {
    const address = addresses[index] as string;
    const isLast = index + 1 === addresses.length;
    const limitMs =
      this.timeoutMs > 0 ? Math.max(1, (this.deadlineMs - awake.nowMs) / (addresses.length - index)) : 0;
    this.attempt = new AddressAttempt(this.endpoint, address, this.options, limitMs, (result) => {
      if (result.ok) return this.settle(ok({ socket: result.value, address }));
      const { error, isOutOfDescriptors } = result.error;
      if (isOutOfDescriptors && this.options.idlePool?.closeOldest() === true)
        this.tryAddress(addresses, index);
      else if (isLast) this.settle(fail(error));
      else this.tryAddress(addresses, index + 1);
    });
  }

  private settle(result: Result<Connected, UpstreamError>): void {
    if (this.settled) return;
    this.settled = true;
    this.nameTimer?.clear();
    this.done(result);
  }
}

/** Returns the error for an address that must not be connected to; undefined if the address is allowed. */
function refusalOf(
  ip: string,
  { port, limits }: UpstreamEndpoint,
  { ownPorts }: ConnectOptions,
): UpstreamError | undefined {
  if (ownPorts?.refuses(ip, port) === true) return ownPortError;
  return limits?.refusesNodeLocal === true && reachableIps(ip).some(isNodeLocal) ? nodeLocalError : undefined;
}
