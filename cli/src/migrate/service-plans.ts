/**
 * Decides on the policy of each Service. In ingress-nginx, each path has its own load balancing and session affinity;
 * here a Service has one policy for all paths. For each setting, the oldest Ingress that requests it decides; other
 * paths get notes if they differ.
 */
import { canonicalJson } from "@svc-gateway/common/ir/canonical-json.ts";
import type { SessionAffinity } from "@svc-gateway/common/ir/session-affinity.ts";
import type { ObjectOf } from "@svc-gateway/operator/api/kinds.ts";
import type { World } from "@svc-gateway/operator/world.ts";
import { writeBalancing } from "./balancing.ts";
import { givenPolicies, sayGiven } from "./given-policies.ts";
import type { ServedUnit } from "./served-units.ts";
import type { ServicePorts } from "./service-ports.ts";
import { writePersistence } from "./persistence.ts";
import { decideCookies, isSameCookie } from "./session-cookies.ts";
import { policy, type Note, type WriterContext } from "./written.ts";

export type ServicePlans = {
  /** Defines the policies that are written next to the Ingress of a path; returns notes on differences for the path. */
  readonly write: (unit: ServedUnit, define: WriterContext["define"]) => readonly Note[];
};

type Decided = {
  readonly value: object;
  /** The Ingress (`namespace/name`) that requests it. */
  readonly by: string;
};

type Plan = {
  /** The Ingress next to which the policy is written. */
  owner?: string;
  loadBalancer?: Decided;
  persistence?: Decided;
};

/** Plans the policies. `units` are ordered by Ingress, oldest first. Services with a given policy get no other one. */
export function planServices(
  units: readonly ServedUnit[],
  ports: ServicePorts,
  world: Pick<World, "SvcBackendPolicy">,
): ServicePlans {
  const given = givenPolicies(world);
  const plans = new Map<string, Plan>();
  const cookies = decideCookies(
    units.flatMap((unit) =>
      wishesOf(unit).flatMap(({ service, affinity }) =>
        affinity === undefined ? [] : [{ service, host: unit.host, affinity }],
      ),
    ),
  );
  for (const unit of units) {
    for (const { service, loadBalancer, affinity } of wishesOf(unit)) {
      const plan = plans.get(service) ?? {};
      plans.set(service, plan);
      const by = unit.ingress;
      if (loadBalancer) plan.loadBalancer ??= { value: loadBalancer, by };
      const cookie = affinity && writePersistence(cookies.get(service));
      if (cookie) plan.persistence ??= { value: cookie, by };
      if (loadBalancer || cookie || ports.askedBy(service) === by) plan.owner ??= by;
    }
  }
  return {
    write(unit, define) {
      const notes: Note[] = [...ports.notesOf(unit)];
      for (const { service, index, loadBalancer, affinity, note } of wishesOf(unit)) {
        const plan = plans.get(service) ?? {};
        const other = given.get(service);
        const decide = (wish: object | undefined, decided: Decided | undefined, texts: Texts) =>
          other === undefined
            ? noteOf(unit.ingress, service, wish, decided, texts)
            : noteOfGiven(service, other, wish, texts);
        notes.push(
          ...decide(loadBalancer, plan.loadBalancer, balancingTexts(index)),
          ...decide(
            writePersistence(affinity),
            plan.persistence,
            sessionTexts(affinity, cookies.get(service)),
          ),
        );
        if (note !== undefined) notes.push({ property: `backends[${index}].balancing`, ...note });
        if (other !== undefined || plan.owner !== unit.ingress) continue;
        const ofPorts = ports.of(service);
        define(policy("SvcBackendPolicy", {
          targetRefs: [{ name: service.slice(service.indexOf("/") + 1) }],
          ...(ofPorts !== undefined && { ports: ofPorts }),
          ...(plan.loadBalancer && { loadBalancer: plan.loadBalancer.value }),
          ...(plan.persistence && { sessionPersistence: plan.persistence.value }),
        }));
      }
      return notes;
    },
  };
}

/** The settings that a path requests for each of its backend Services in its namespace. */
function wishesOf({ route }: ServedUnit) {
  return route.backends.flatMap(({ service, balancing, unbound }, index) => {
    if (!service.startsWith(`${route.source.namespace}/`)) return [];
    const affinity = unbound === true ? undefined : route.affinity;
    return [{ service, index, affinity, ...writeBalancing(balancing) }];
  });
}

type Texts = Pick<Note, "property"> & {
  /** The text for the setting, which follows "how it". */
  readonly subject: string;
  /** The text for a path that gets the setting without requesting it. */
  readonly added: string;
  /** The text for a path that requested almost the same; absent if it requested something else. */
  readonly almost?: string;
};

const balancingTexts = (index: number): Texts => ({
  property: `backends[${index}].balancing`,
  subject: "chooses endpoints",
  added: "Endpoints are chosen in another way",
});

const sessionTexts = (wish: SessionAffinity | undefined, cookie: SessionAffinity | undefined): Texts => ({
  property: "affinity",
  subject: "keeps sessions",
  added: "Sessions are kept as well, by a cookie",
  ...(wish &&
    cookie &&
    isSameCookie(wish, cookie) &&
    isWithinPath(wish.path, cookie.path) && {
      almost: `The session cookie has the path ${cookie.path}, so that all paths of the Service share a session`,
    }),
});

const isWithinPath = (path: string, outer: string): boolean =>
  outer === "/" || path === outer || path.startsWith(`${outer}/`);

function noteOf(
  ingress: string,
  service: string,
  wish: object | undefined,
  decided: Decided | undefined,
  { property, subject, added, almost }: Texts,
): readonly Note[] {
  if (decided === undefined) return [];
  if (decided.by === ingress) {
    if (wish === undefined || canonicalJson(wish) === canonicalJson(decided.value)) return [];
    const text = `Service ${service} has one policy, in which another path of the Ingress decides how it ${subject}`;
    return almost === undefined
      ? [{ property, loss: "lost", text }]
      : [{ property: `${property}.path`, loss: "changed", text: almost }];
  }
  const one = `Service ${service} has one policy, in which Ingress ${decided.by} decides how it ${subject}`;
  if (wish === undefined) {
    return [{ property, loss: "changed", text: `${added}: ${one}`, decidedBy: decided.by }];
  }
  if (canonicalJson(wish) === canonicalJson(decided.value)) return [];
  if (almost !== undefined)
    return [
      { property: `${property}.path`, loss: "changed", text: `${almost}: ${one}`, decidedBy: decided.by },
    ];
  return [{ property, loss: "lost", text: one, decidedBy: decided.by }];
}

const noteOfGiven = (
  service: string,
  given: ObjectOf<"SvcBackendPolicy">,
  wish: object | undefined,
  { property, subject }: Texts,
): readonly Note[] =>
  wish === undefined
    ? []
    : [
        {
          property,
          loss: "lost",
          text: `${sayGiven(service, given)}, which decides how it ${subject}`,
        },
      ];
