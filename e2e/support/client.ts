/** Single requests to the shared proxies. */
import { request as requestHttp, type IncomingHttpHeaders } from "node:http";
import { request as requestHttps } from "node:https";
import type { TLSSocket } from "node:tls";
import type { EchoAnswer } from "../../scripts/echo/backend.ts";
import { proxyAddress, type ProxyAddress } from "./address.ts";

export type SendOptions = {
  readonly host: string;
  /** The address of a Gateway, used with the ports 80 and 443; without it, the address for Ingresses is used. */
  readonly gateway?: string | undefined;
  /** Another address to use. */
  readonly address?: ProxyAddress;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Sends over TLS and trusts this certificate; the host is the server name. */
  readonly caPem?: string;
  /** The client's own certificate and key. */
  readonly identity?: { readonly certificatePem: string; readonly keyPem: string };
  /** The server name, if it differs from the host. */
  readonly serverName?: string;
  readonly timeoutMs?: number;
};

export type Reply = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The body as received. */
  readonly bytes: Buffer;
  /** The SHA-256 of the server certificate; empty without TLS. */
  readonly fingerprint: string;
};

/** Sends one request on a new connection. */
export async function send(options: SendOptions): Promise<Reply> {
  const { host, path = "/", method = "GET", headers = {}, body, caPem, timeoutMs = 10_000 } = options;
  const { identity, serverName = host, gateway } = options;
  const address =
    options.address ??
    (gateway === undefined ? await proxyAddress() : { host: gateway, http: 80, https: 443 });
  const isTls = caPem !== undefined;
  const common = { host: address.host, path, method, headers: { ...headers, host }, agent: false } as const;
  return new Promise((settle, reject) => {
    const sent = isTls
      ? requestHttps({
          ...common,
          port: address.https,
          ca: caPem,
          servername: serverName,
          ...(identity && { cert: identity.certificatePem, key: identity.keyPem }),
        })
      : requestHttp({ ...common, port: address.http });
    sent.setTimeout(timeoutMs, () => sent.destroy(new Error(`no response within ${timeoutMs} ms`)));
    sent.once("error", reject);
    sent.once("response", (response) => {
      const chunks: Buffer[] = [];
      const fingerprint = isTls ? (response.socket as TLSSocket).getPeerCertificate().fingerprint256 : "";
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("error", reject);
      response.once("end", () => {
        const bytes = Buffer.concat(chunks);
        settle({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: bytes.toString("utf8"),
          bytes,
          fingerprint,
        });
      });
    });
    sent.end(body);
  });
}

export type SlowOptions = {
  readonly host: string;
  readonly path: string;
  /** The time over which the body is sent. */
  readonly durationMs: number;
};

/** Sends the body of a request slowly, in pieces; returns the status, or 0 without a response. */
export async function sendSlowly({ host, path, durationMs }: SlowOptions): Promise<number> {
  const address = await proxyAddress();
  return new Promise((settle) => {
    const options = { method: "POST", host: address.host, port: address.http, path, agent: false } as const;
    const sent = requestHttp({ ...options, headers: { host } });
    const pieces = setInterval(() => sent.write("piece"), 250);
    const end = setTimeout(() => {
      clearInterval(pieces);
      sent.end();
    }, durationMs);
    const finish = (status: number): void => {
      clearInterval(pieces);
      clearTimeout(end);
      sent.destroy();
      settle(status);
    };
    sent.once("error", () => finish(0));
    sent.once("response", (response) => {
      response.resume();
      response.once("error", () => finish(0));
      response.once("end", () => finish(response.statusCode ?? 0));
    });
  });
}

/** The values of a field that the echo backend received, in order. */
export const fieldsOf = (reply: Reply, lowerName: string): readonly string[] =>
  (echoed(reply)?.headers ?? []).flatMap(([name, value]) => (name.toLowerCase() === lowerName ? value : []));

/** The request that the echo backend received; undefined when another program answered. */
export function echoed({ status, headers, body }: Reply): EchoAnswer | undefined {
  return status === 200 && headers["echo-backend"] !== undefined
    ? (JSON.parse(body) as EchoAnswer)
    : undefined;
}
