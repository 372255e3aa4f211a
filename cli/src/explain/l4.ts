/** Explains how a connection or datagram below HTTP is handled, as data. */
import type { L4Route } from "@svc-gateway/common/ir/l4.ts";
import { clip } from "@svc-gateway/common/settings/arguments.ts";
import type { PortMapping } from "@svc-gateway/common/settings/flag-types.ts";
import { ok, problem, type Problem, type Result } from "@svc-gateway/common/values/result.ts";
import { l4TableKey } from "@svc-gateway/proxy/state/l4-tables.ts";
import type { TranslatedFolder } from "../translate-folder.ts";
import { createPlacer, findListener, type ExplainedListener } from "./answer.ts";
import { endpointsOf, shareOf } from "./backends.ts";
import type { ExplainedReply } from "./rehearse.ts";
import { compileServing, explainTls, type ExplainedTls } from "./data-plane.ts";

export type ExplainedConnection = {
  readonly protocol: "tcp" | "tls" | "udp";
  /** The server name of a TLS client, in lower case; empty if it sends none. */
  readonly serverName: string;
  readonly port: number;
};

export type L4Answer = {
  readonly connection: ExplainedConnection;
  /** `route`: a route takes it. `https`: it is for the HTTPS listener of the port. The others name what is missing. */
  readonly outcome: "route" | "https" | "no-listener" | "no-certificate" | "no-route";
  readonly listener?: ExplainedListener;
  /** The host of the listener that covers the server name. */
  readonly host?: string;
  readonly mode?: "passthrough" | "terminate";
  readonly tls?: ExplainedTls;
  readonly route?: ExplainedL4Route;
  /** `backend`: it is forwarded. `none`: it is refused, reset or dropped, or not for a listener below HTTP. */
  readonly reply: Pick<ExplainedReply, "by" | "after">;
};

export type ExplainedL4Route = Pick<L4Route, "id" | "source"> & {
  /** The place of the source: `file:line:column`. */
  readonly place?: string;
  readonly backends: readonly ExplainedL4Backend[];
};

export type ExplainedL4Backend = {
  readonly service: string;
  /** The share of the route's connections, in per cent. */
  readonly share: number;
  /** The endpoints as `address:port`; if empty, the share of the backend is refused. */
  readonly endpoints: readonly string[];
};

/** Reads `tcp://host:port`, `tls://name:port` or `udp://host:port`; undefined for any other URL. */
export function readConnection(url: string): Result<ExplainedConnection, Problem> | undefined {
  const [, scheme, rest = ""] = /^(tcp|tls|udp):\/\/(.*)$/i.exec(url) ?? [];
  if (scheme === undefined) return undefined;
  const [, host = "", portText = ""] = /^([^:/]*|\[[^\]]*\]):(\d{1,5})\/?$/.exec(rest) ?? [];
  const port = Number(portText);
  if (port < 1 || port > 65_535)
    return problem(`"${clip(url)}": expected ${scheme}://host:port, as in ${scheme}://:9000`);
  const protocol = scheme.toLowerCase() as ExplainedConnection["protocol"];
  return ok({ protocol, serverName: protocol === "tls" ? host.toLowerCase().replace(/\.$/, "") : "", port });
}

/** Looks the connection up in the tables of the data plane. */
export function answerConnection(
  connection: ExplainedConnection,
  folder: TranslatedFolder,
  portMap: readonly PortMapping[],
): L4Answer {
  const answer = findRoute(connection, folder, portMap);
  const isForwarded = answer.route?.backends.some(
    ({ share, endpoints }) => share > 0 && endpoints.length > 0,
  );
  return { ...answer, reply: { by: isForwarded === true ? "backend" : "none", after: [] } };
}

function findRoute(
  connection: ExplainedConnection,
  folder: TranslatedFolder,
  portMap: readonly PortMapping[],
): Omit<L4Answer, "reply"> {
  const { protocol, serverName, port } = connection;
  const serving = compileServing(folder.translation);
  const listener = findListener([protocol], port, serving.listeners, portMap);
  if (listener === undefined) {
    const https = protocol === "tls" ? findListener(["https"], port, serving.listeners, portMap) : undefined;
    return {
      connection,
      ...(https === undefined ? { outcome: "no-listener" } : { outcome: "https", listener: https }),
    };
  }
  const entry = serving.l4.get(l4TableKey(protocol, listener.port))?.find(serverName);
  const isHttps =
    protocol === "tls" &&
    (entry === undefined
      ? serving.listeners.some((one) => one.port === listener.port && one.protocol === "https")
      : entry.mode === "http");
  if (isHttps) return { connection, outcome: "https", listener };
  if (entry === undefined || entry.mode === "http") return { connection, outcome: "no-route", listener };
  const { host, mode, route: compiled } = entry;
  const known = { connection, listener, host, mode };
  if (compiled === undefined) return { ...known, outcome: "no-route" };
  const certificates = serving.tls.get(listener.port);
  const tls =
    mode === "terminate" && certificates !== undefined
      ? explainTls(certificates, serverName)?.tls
      : undefined;
  if (mode === "terminate" && tls === undefined) return { ...known, outcome: "no-certificate" };
  const { id, source, backends } = compiled.route;
  const place = createPlacer(folder)(source);
  return {
    ...known,
    outcome: "route",
    ...(tls !== undefined && { tls }),
    route: {
      id,
      source,
      ...(place !== undefined && { place }),
      backends: backends.map(({ service, weight, endpoints }) => ({
        service,
        share: shareOf(weight, backends),
        endpoints: endpointsOf(endpoints, folder),
      })),
    },
  };
}
