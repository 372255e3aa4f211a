/**
 * Merges the settings of Ingresses and Gateways on a port that they share: certificates, client certificates
 * and the names of TLS listeners. Those of Gateways take precedence, as their routes do (docs/gateway-api.md,
 * "Shared ports").
 */
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { ClientCertPort } from "@svc-gateway/common/ir/client-certificate.ts";
import { mergeClientCertPorts, withoutNamesOf } from "./gateway/listeners/frontend-validation.ts";
import { withIngressNames, withPassthrough, type L4Table } from "./gateway/scopes/l4-tables.ts";
import { mergeTlsPorts } from "./gateway/scopes/tls.ts";
import type { GatewayPart } from "./gateway/translator.ts";
import { haveSameItems, memo2 } from "./incremental/memo.ts";
import type { IngressPart } from "./ingress/translator.ts";

/** The tables of each port of the shared proxies, besides host tables. */
export type PortTables = {
  readonly tls: ReadonlyMap<number, TlsPort>;
  readonly clientCerts: ReadonlyMap<number, ClientCertPort>;
  readonly l4: readonly L4Table[];
};

/** Merges the ports of Ingresses and Gateways; merged values keep their identity while both parts do. */
export function createPortMerger(): (ingress: IngressPart, gateway: GatewayPart) => PortTables {
  const mergeTls = memo2(mergeTlsPorts);
  const mergeClientCerts = memo2(mergeClientCertPorts);
  const withoutNames = memo2(withoutNamesOf);
  const withNames = memo2(withIngressNames);
  let passed: { readonly inputs: readonly unknown[]; readonly table: L4Table } | undefined;
  const passOn = (...inputs: Parameters<typeof withPassthrough>): L4Table => {
    if (passed === undefined || !haveSameItems(passed.inputs, inputs)) {
      passed = { inputs, table: withPassthrough(...inputs) };
    }
    return passed.table;
  };

  const tlsOf = (port: number, ingress: IngressPart, { shared }: GatewayPart): PortTables["tls"] => {
    const ofGateways = shared.tls.get(port);
    const merged = ofGateways === undefined ? ingress.tls : mergeTls(ofGateways, ingress.tls);
    return new Map(shared.tls).set(port, merged);
  };
  const clientCertsOf = (
    port: number,
    ingress: IngressPart,
    { shared }: GatewayPart,
  ): PortTables["clientCerts"] => {
    if (ingress.clientCerts.hosts.length === 0) return shared.clientCerts;
    const tls = shared.tls.get(port);
    const own = tls === undefined ? ingress.clientCerts : withoutNames(tls, ingress.clientCerts);
    if (own.hosts.length === 0) return shared.clientCerts;
    const ofGateways = shared.clientCerts.get(port);
    const merged = ofGateways === undefined ? own : mergeClientCerts(ofGateways, own);
    return new Map(shared.clientCerts).set(port, merged);
  };
  return (ingress, gateway) => {
    const { tls, clientCerts, l4 } = gateway.shared;
    const port = securePort(ingress);
    if (port === undefined) return { tls, clientCerts, l4 };
    const isOfPort = (table: L4Table): boolean => table.protocol === "tls" && table.port === port;
    const own = l4.find(isOfPort);
    const ofPort =
      ingress.passthrough.length === 0 ? own : passOn(own, port, ingress.passthrough, tls.get(port));
    const others = ofPort === own ? l4 : [...l4.filter((table) => table !== own), ofPort];
    return {
      tls: tlsOf(port, ingress, gateway),
      clientCerts: clientCertsOf(port, ingress, gateway),
      // Without a TLS listener, names that are in no table belong to HTTPS anyway.
      l4: others.flatMap((table) => {
        if (table === undefined) return [];
        return own !== undefined && isOfPort(table) ? withNames(table, ingress.tls) : table;
      }),
    };
  };
}

/** The port on which Ingresses are served with TLS. */
const securePort = ({ listenerSet }: IngressPart): number | undefined =>
  listenerSet.listeners.find(({ protocol }) => protocol === "https")?.port;
