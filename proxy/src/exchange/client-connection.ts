import type { FieldBlock } from "../message/field-block.ts";
import type { HttpVersion } from "../message/message.ts";
import type { KnownHost } from "../message/authority.ts";
import type { ClientPolicy } from "../tls/client-validation.ts";
import type { ListenerView, PublicPort } from "./listener-view.ts";

/** One accepted client connection, the same for every request on it. */
export type ClientConnection = {
  /** Address of the TCP peer or, behind the PROXY protocol, the address that its header names. No zone, no brackets. */
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** The address at which the connection arrived; unknown once the connection is closed. */
  readonly localAddress?: string | undefined;
  /** True when `remoteAddress` comes from a PROXY protocol header. */
  readonly proxied: boolean;
  readonly listener: ListenerView;
  /** TLS facts; undefined on cleartext connections. */
  readonly tls: TlsFacts | undefined;
  /** True for a question: a request of the proxy itself to one of its hosts, on behalf of a client. */
  readonly isQuestion?: true;
  /** The forwarding fields of the last request on this connection (http/request-fields.ts). */
  forwarding?: ForwardingMemo;
};

export type TlsFacts = {
  /** Server name of the handshake, lower case, empty when the client sent none. */
  readonly serverName: string;
  /** `TLSv1.2` or `TLSv1.3`. */
  readonly version: string;
  /** The verified client; undefined if the server name has no rules for client certificates. */
  readonly client?: VerifiedClient | undefined;
};

/** The result of verifying a client certificate, with the names in the certificate. */
export type ClientIdentity = {
  /** `SUCCESS`, `NONE` without a certificate, or `FAILED:` with the reason. */
  readonly verification: string;
  /** Distinguished names as in RFC 2253; empty without a certificate. */
  readonly subject: string;
  readonly issuer: string;
  /** The certificate as PEM, percent-encoded; empty without one. */
  readonly certificate: string;
};

/** A client whose certificate was checked in the handshake of its connection. */
export type VerifiedClient = {
  readonly policy: ClientPolicy;
  /**
   * The client's own certificate, as PEM in which all characters except letters and digits are percent-encoded; empty
   * if it is not forwarded.
   */
  readonly encodedCertificate: string;
  /** The result of the verification, if it is evaluated per request instead of in the handshake. */
  readonly identity?: ClientIdentity;
};

/** The inputs of the forwarding fields of a request, besides its connection. */
export type ForwardedAs = {
  readonly authority: string;
  readonly version: HttpVersion;
  readonly clientIp: string;
  readonly publicPort: PublicPort;
  readonly via: boolean;
};

/** The host and the forwarding fields of the last request on a connection; most later requests have the same. */
export type ForwardingMemo = KnownHost & { readonly as: ForwardedAs; readonly block: FieldBlock };
