import { shown } from "./clip.ts";
import { parseDnsName } from "./hostname.ts";
import { formatIpPort, parseIpAddress } from "./ip-address.ts";
import { parsePort } from "./port.ts";
import { ok, problem, type Problem, type Result } from "./result.ts";

/** The address of a connection: an IP address or a DNS name, and a port. */
export type Endpoint = { readonly host: string; readonly port: number };

/** Reads `host[:port]`; an IPv6 address with a port is written in brackets (RFC 3986 section 3.2.2). */
export function parseEndpoint(text: string, defaultPort: number): Result<Endpoint, Problem> {
  const trimmed = text.trim().slice(0, 300);
  const match =
    /^(?:\[(?<ip6>[^\]]+)\]|(?<name>[^:[\]]+)|(?<bare6>[^[\]]*:[^[\]]*:[^[\]]*))(?::(?<port>\d+))?$/.exec(
      trimmed,
    );
  const { ip6, name, bare6, port = String(defaultPort) } = match?.groups ?? {};
  const host = name === undefined ? parseIpAddress(ip6 ?? bare6 ?? "") : parseHost(name);
  const parsedPort = parsePort(port);
  return host.ok && parsedPort.ok
    ? ok({ host: host.value, port: parsedPort.value })
    : problem(`"${shown(trimmed)}" is not an endpoint`, "host[:port]");
}

/** Writes `host:port`. */
export const formatEndpoint = ({ host, port }: Endpoint): string => formatIpPort(host, port);

function parseHost(text: string): Result<string, Problem> {
  const address = parseIpAddress(text);
  return address.ok ? address : parseDnsName(text);
}
