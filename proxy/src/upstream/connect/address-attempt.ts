import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { AwakeTimer } from "../../timing/awake-timer.ts";
import type { UpstreamEndpoint } from "../upstream.ts";
import {
  connectError,
  connectTimeoutError,
  handshakeError,
  tlsError,
  type UpstreamError,
} from "../upstream-errors.ts";
import { abandonSocket, openSocket } from "./open-socket.ts";
import { isOwnEnd } from "./own-end.ts";
import type { ConnectOptions } from "./options.ts";

export type AddressFailure = {
  readonly error: UpstreamError;
  /** Whether the process has no descriptor left, so that another try can succeed once a connection has been closed. */
  readonly isOutOfDescriptors: boolean;
};

/** The limit of a handshake if connects have no limit. */
const maxHandshakeMs = 30_000;

const handshakeTimeoutError: UpstreamError = {
  ...connectTimeoutError,
  text: "upstream TLS handshake timeout",
};

/**
 * An attempt to connect to one address: TCP, then TLS if the endpoint uses it. `done` is called once, unless the
 * attempt is cancelled. If it fails, the socket is destroyed before that call.
 */
export class AddressAttempt {
  private readonly socket: Socket;
  private readonly options: ConnectOptions;
  private readonly port: number;
  private readonly limitMs: number;
  private readonly done: (result: Result<Socket, AddressFailure>) => void;
  private timer: AwakeTimer | undefined;
  private isHandshaking = false;

  /** `limitMs` applies to TCP and TLS together. With 0, TCP has no limit, and TLS has `maxHandshakeMs`. */
  constructor(
    endpoint: UpstreamEndpoint,
    host: string,
    options: ConnectOptions,
    limitMs: number,
    done: (result: Result<Socket, AddressFailure>) => void,
  ) {
    this.options = options;
    this.port = endpoint.port;
    this.limitMs = limitMs;
    this.done = done;
    this.socket = openSocket(endpoint, host, options);
    if (limitMs > 0) this.timer = new AwakeTimer(this.onExpired, limitMs);
    this.socket.once("error", this.onError);
    this.socket.once("connect", this.onConnect);
    if (this.socket instanceof TLSSocket) this.socket.once("secureConnect", this.onSecure);
  }

  /** Ends the attempt without a call of `done`. */
  cancel(): void {
    this.timer?.clear();
    abandonSocket(this.socket);
  }

  private readonly onConnect = (): void => {
    // The socket is connected to itself, so nothing listens on the port.
    if (isOwnEnd(this.socket, this.port)) return this.fail(connectError("ECONNREFUSED"));
    if (!(this.socket instanceof TLSSocket)) return this.succeed();
    this.isHandshaking = true;
    if (this.limitMs === 0) this.timer = new AwakeTimer(this.onExpired, maxHandshakeMs);
  };

  private readonly onSecure = (): void => {
    const { alpnProtocol } = this.socket as TLSSocket;
    const { alpn } = this.options;
    // HTTP/1.1 servers need not support ALPN; HTTP/2 is not spoken without it (RFC 9113 3.2).
    const isOther = alpnProtocol === false ? alpn === "h2" : alpnProtocol !== (alpn ?? false);
    if (isOther) this.fail(tlsError("upstream does not agree on the protocol"));
    else this.succeed();
  };

  private readonly onExpired = (): void => {
    this.fail(this.isHandshaking ? handshakeTimeoutError : connectTimeoutError);
  };

  private readonly onError = ({ code }: NodeJS.ErrnoException): void => {
    const error = this.isHandshaking ? handshakeError(code) : connectError(code);
    this.fail(error, code === "EMFILE" || code === "ENFILE");
  };

  private readonly succeed = (): void => {
    this.timer?.clear();
    this.socket.off("error", this.onError);
    this.done(ok(this.socket));
  };

  private fail(error: UpstreamError, isOutOfDescriptors = false): void {
    this.cancel();
    this.done(fail({ error, isOutOfDescriptors }));
  }
}
