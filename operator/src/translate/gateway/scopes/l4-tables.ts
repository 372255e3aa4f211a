/** The tables of TCP, TLS and UDP listeners by the ports that proxies bind. See docs/features/l4.md. */
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import { l4Key, type L4Protocol } from "@svc-gateway/common/ir/keys.ts";
import type { L4Host, L4Port } from "@svc-gateway/common/ir/l4.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { compareAges, compareText } from "../../age.ts";
import { listMemo, memo } from "../../incremental/memo.ts";
import { familyOf } from "../kinds.ts";
import type { Listener } from "../listeners/gateways.ts";
import type { L4Plan } from "../routes/l4-route.ts";
import {
  narrowness,
  ownerOf,
  type Claim,
  type ClaimedHost,
  type ClaimsOfListener,
  type PortListeners,
} from "./host-tables.ts";

type L4Claim = Claim<L4Plan>;
type L4Claims = ClaimedHost<L4Plan>;

export type L4Table = {
  readonly protocol: L4Protocol;
  readonly port: number;
  readonly value: L4Port;
  readonly resource: Resource;
};

/** A listener of a port. With `isTaken`, its own host name belongs to an Ingress, which receives its connections. */
type PortListener = Listener & { readonly isTaken?: true };

/** Builds the tables of all ports. They are the same values until their listeners or routes change. */
export function createL4TableBuilder(): (
  ports: readonly PortListeners[],
  claims: ReadonlyMap<string, ClaimsOfListener<L4Plan>>,
  isTaken: (listener: Listener, port: number) => boolean,
) => readonly L4Table[] {
  const build = listMemo((inputs: readonly (PortListener | L4Claims)[], port: number) =>
    buildTable(inputs, port),
  );
  const takenOf = memo((listener: Listener): PortListener => ({ ...listener, isTaken: true }));
  return (ports, claims, isTaken) =>
    ports.flatMap(({ port, listeners }) =>
      [...Map.groupBy(listeners, familyOfListener)].flatMap(([, ofFamily]) => {
        if (!ofFamily.some(({ protocol }) => isL4(protocol))) return [];
        const isOut = (one: Listener): boolean => one.protocol === "tls" && isTaken(one, port);
        return build(
          [
            ...ofFamily.map((one) => (isOut(one) ? takenOf(one) : one)),
            ...ofFamily.flatMap(({ id }) => claims.get(id)?.values ?? []),
          ],
          port,
        );
      }),
    );
}

const familyOfListener = ({ protocol }: Listener): string =>
  protocol === undefined ? "" : familyOf(protocol);

const isL4 = (protocol: Listener["protocol"]): protocol is L4Protocol =>
  protocol === "tls" || protocol === "tcp" || protocol === "udp";

function buildTable(inputs: readonly (PortListener | L4Claims)[], port: number): L4Table {
  const listeners = inputs.filter(isListener);
  const claims = Map.groupBy(inputs.filter(isClaimed), ({ listener }) => listener);
  const protocol = listeners.map((listener) => listener.protocol).find(isL4);
  if (protocol === undefined) throw new Error("a table needs a listener");
  const hosts = new Map<string, L4Host>();
  for (const listener of listeners) {
    const { id, hostname } = listener;
    // Even without a route, a listener keeps its own name: its connections never fall through to a wider one.
    const entries = new Map<string, L4Host>(
      listener.isTaken ? [] : [[hostname.host, { ...hostname, ...treatmentOf(listener) }]],
    );
    for (const { host, claims: ofHost } of claims.get(id) ?? []) {
      const [first] = ofHost.toSorted(compareClaims);
      if (first === undefined || ownerOf(host, listeners) !== listener) continue;
      entries.set(host.host, { ...host, ...treatmentOf(listener), route: first.plan.route });
    }
    for (const [host, entry] of entries) hosts.set(host, entry);
  }
  return encode(protocol, port, [...hosts.values()]);
}

/**
 * Adds the names that Ingresses serve over TLS on the port. The narrowest name decides between listeners and
 * Ingresses as well, so a wildcard listener does not receive the connections of an Ingress's exact name. A name
 * that both have is the listener's.
 */
export function withIngressNames(table: L4Table, ingress: TlsPort): L4Table {
  const { protocol, port, value } = table;
  const taken = new Set(value.hosts.map(({ host }) => host));
  const names = ingress.hosts.flatMap(({ bucket, host }): L4Host | [] =>
    bucket === "default" || taken.has(host) ? [] : { kind: bucket, host, mode: "http" },
  );
  return names.length === 0 ? table : encode(protocol, port, [...value.hosts, ...names]);
}

/**
 * Adds to the table of an HTTPS port the names of Ingresses whose TLS is passed through, and names within these
 * whose TLS must not be passed through. A name that a listener has remains the listener's.
 */
export function withPassthrough(
  table: L4Table | undefined,
  port: number,
  hosts: readonly L4Host[],
  ofGateways: TlsPort | undefined,
): L4Table {
  const before = table?.value.hosts ?? [];
  const taken = new Set([...before, ...(ofGateways?.hosts ?? [])].map(({ host }) => host));
  return encode("tls", port, [...before, ...hosts.filter(({ host }) => !taken.has(host))]);
}

function encode(protocol: L4Protocol, port: number, hosts: readonly L4Host[]): L4Table {
  const value: L4Port = {
    hosts: hosts.toSorted((a, b) => compareText(a.kind, b.kind) || compareText(a.host, b.host)),
  };
  return { protocol, port, value, resource: encodeResource(l4Key(protocol, port), value) };
}

const isClaimed = (one: PortListener | L4Claims): one is L4Claims => "claims" in one;
const isListener = (one: PortListener | L4Claims): one is PortListener => !isClaimed(one);

function treatmentOf({
  protocol,
  tlsMode = "passthrough",
  backendCertificate,
}: Listener): Pick<L4Host, "mode" | "clientCertificate"> {
  if (protocol === "https") return { mode: "http" };
  return tlsMode === "terminate" && backendCertificate !== undefined
    ? { mode: tlsMode, clientCertificate: backendCertificate }
    : { mode: tlsMode };
}

/**
 * Orders the routes of one host of one listener: the one with the narrowest host name of its own first, then
 * the oldest (Gateway API, "Hostname intersection precedence").
 */
const compareClaims = (a: L4Claim, b: L4Claim): number =>
  narrowness(b) - narrowness(a) || compareAges(a.plan.age, b.plan.age);
