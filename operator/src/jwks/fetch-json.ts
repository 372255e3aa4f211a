import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { isIP } from "node:net";
import { aborted } from "@svc-gateway/common/time/aborted.ts";
import { compileCidrs, type Cidr, type CidrMatcher } from "@svc-gateway/common/values/cidr.ts";
import { canonicalIp, isPublicIp } from "@svc-gateway/common/values/ip-address.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";

export type FetchOptions = {
  /** Addresses to which connections are allowed although they are not public. */
  readonly allowCidrs: readonly Cidr[];
  /** Whether an address is refused, even if it is otherwise allowed. */
  readonly isRefused?: (ip: string, port: number) => boolean;
  /** Aborts the fetch. */
  readonly signal: AbortSignal;
  /** Certificates to trust instead of those that Node trusts (to which NODE_EXTRA_CA_CERTS adds). */
  readonly ca?: string;
  readonly timeoutMs?: number;
  /** Resolves a name; by default with the resolver of the system. */
  readonly resolve?: (name: string) => Promise<readonly LookupAddress[]>;
};

const defaultTimeoutMs = 10_000;
const maxBytes = 1024 * 1024;

/**
 * Fetches JSON from an https URL written by a tenant. The name is resolved here, and the connection goes to the address
 * that was checked: a public address, or one that the operator allows. Redirects are not followed. The error is one
 * sentence without any content of the response.
 */
export async function fetchJson(url: string, options: FetchOptions): Promise<Result<unknown>> {
  const { hostname, port, pathname, search, host } = new URL(url);
  const name = hostname.replace(/^\[(.*)\]$/, "$1");
  const signal = AbortSignal.any([
    options.signal,
    AbortSignal.timeout(options.timeoutMs ?? defaultTimeoutMs),
  ]);
  const resolve = options.resolve ?? ((one: string) => lookup(one, { all: true }));
  const portNumber = port === "" ? 443 : Number(port);
  const address = await chooseAddress(resolve(name), compileCidrs(options.allowCidrs), signal);
  if (!address.ok) return address;
  if (options.isRefused?.(address.value, portNumber) === true)
    return problem("its host is the gateway itself");
  return new Promise((settle) => {
    const sent = request({
      host: address.value,
      port: portNumber,
      servername: isIP(name) === 0 ? name : "",
      path: pathname + search,
      headers: { host, accept: "application/json", "user-agent": "svc-gateway" },
      agent: false,
      signal,
      ...(options.ca !== undefined && { ca: options.ca }),
    });
    sent.once("response", (response) => void readJson(response).then(settle));
    sent.once("error", (error: NodeJS.ErrnoException) =>
      settle(
        problem(signal.aborted ? "the request timed out" : `the connection failed (${error.code ?? "?"})`),
      ),
    );
    sent.end();
  });
}

async function chooseAddress(
  resolved: Promise<readonly LookupAddress[]>,
  allowed: CidrMatcher,
  signal: AbortSignal,
): Promise<Result<string>> {
  const none = (): undefined => undefined;
  // A tenant's name server can take minutes to fail.
  const found = await Promise.race([resolved.catch(none), aborted(signal).then(none)]);
  if (found === undefined) return problem("its host name cannot be resolved");
  for (const { address } of found) {
    const ip = canonicalIp(address);
    if (ip !== undefined && (isPublicIp(ip) || allowed.contains(ip))) return ok(ip);
  }
  return problem("its host has no public address, nor one that --jwks-allow-cidrs allows");
}

async function readJson(response: IncomingMessage): Promise<Result<unknown>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    if (response.statusCode !== 200) {
      response.destroy();
      return problem(`the answer has status ${response.statusCode ?? 0}, not 200`);
    }
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) {
        response.destroy();
        return problem("the answer has more than 1 MiB");
      }
      chunks.push(chunk);
    }
  } catch {
    return problem("the answer broke off");
  }
  try {
    return ok(JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown);
  } catch {
    return problem("the answer is not JSON");
  }
}
