/** Writes client certificate rules as TLS options of listeners (docs/features/auth-tls.md, "Listeners of Gateways"). */
import { annotationPrefix } from "@svc-gateway/common/features/definition.ts";
import { canonicalJson } from "@svc-gateway/common/ir/canonical-json.ts";
import type { ClientRules } from "@svc-gateway/common/ir/client-certificate.ts";
import { formatNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import { clientAnnotations } from "../client-annotations.ts";
import type { ClientPlan, ClientPlans } from "../client-certificates.ts";
import type { ServedUnit } from "../served-units.ts";
import type { Note } from "../written.ts";
import type { HostListener, Listeners } from "./listeners.ts";

export type ListenerClients = {
  /** The TLS options of a listener; empty if it requires nothing. */
  optionsOf(listener: HostListener): Readonly<Record<string, string>>;
  /** The notes about rules for the clients of a path that cannot be expressed. */
  notesOf(unit: ServedUnit): readonly Note[];
};

/** Plans the rules. A listener has those of its host, of any Ingress; a path with different rules is closed. */
export function planListenerClients(
  units: readonly ServedUnit[],
  listeners: Listeners,
  clients: ClientPlans,
): ListenerClients {
  const byHost = new Map(units.map(({ host, ofHost }) => [host, ofHost.clients]));
  /** The rules of a listener; if its host has no paths, those of the hosts that it covers. */
  const rulesOf = (listener: HostListener): ClientRules | undefined => {
    if (byHost.has(listener.host)) return byHost.get(listener.host);
    const below = [...byHost].filter(([host]) => listeners.of(host) === listener).map(([, rules]) => rules);
    return below.every((rules) => asksAlike(rules, below[0])) ? below[0] : undefined;
  };
  const planOf = (rules: ClientRules): ClientPlan | undefined =>
    clients.of(rules.owner.replace(/^ingress\//, ""));
  const problemOf = (host: string, rules: ClientRules): string | undefined => {
    const plan = planOf(rules);
    const listener = listeners.of(host);
    if (plan?.problem !== undefined) return plan.problem;
    if (plan?.secret === undefined) return "No option of a listener says what the Ingress asks";
    if (listener === undefined) return "The host has no listener with a certificate";
    if (listener.mode === "Passthrough")
      return "The TLS of the host ends at its backend, which has to verify clients itself";
    const { namespace } = plan.secret.metadata;
    if (namespace !== listener.set.namespace) {
      return `Secret ${formatNamespacedName(plan.secret.metadata)} is not in the namespace of ListenerSet ${formatNamespacedName(listener.set)}`;
    }
    return asksAlike(rulesOf(listener), rules)
      ? undefined
      : `Listener ${listener.host}, which serves the host, asks for other certificates`;
  };
  return {
    optionsOf(listener) {
      const rules = rulesOf(listener);
      if (rules === undefined || problemOf(listener.host, rules) !== undefined) return {};
      const options = Object.entries(clientAnnotations(planOf(rules)));
      return Object.fromEntries(options.map(([name, value]) => [`${annotationPrefix}${name}`, value]));
    },
    notesOf(unit) {
      const { host, ofHost, route } = unit;
      const rules = ofHost.clients ?? route.clients;
      if (rules === undefined) return [];
      const isOther = route.clients !== undefined && !asksAlike(ofHost.clients, route.clients);
      const problem =
        problemOf(host, rules) ??
        (isOther ? "The listener of the host asks for other certificates than the path" : undefined);
      if (problem === undefined) return clients.notesOf(unit);
      const which =
        listeners.of(host)?.mode === "Passthrough"
          ? "every request without TLS"
          : "every request that is not redirected";
      const text = `${problem}; ${which} is answered 403`;
      return (["host.clients", "clients"] as const).map((property): Note => ({
        property,
        loss: "lost",
        text,
        closes: true,
      }));
    },
  };
}

/** Whether both rules admit the same clients. */
export const asksAlike = (a: ClientRules | undefined, b: ClientRules | undefined): boolean =>
  a !== undefined && b !== undefined && canonicalJson(askedBy(a)) === canonicalJson(askedBy(b));

const askedBy = ({ authorities, maxIntermediates, byRequest }: ClientRules): object => ({
  ...(authorities !== undefined && { authorities }),
  ...(maxIntermediates !== undefined && { maxIntermediates }),
  ...(byRequest && { byRequest: { ...byRequest } }),
});
