/**
 * Who decides about a Service. ingress-nginx says of each path how its endpoints are chosen and sessions kept; here a Service has one
 * policy for all paths. It says what the oldest Ingress asks for, each setting for itself; the others get notes where they differ.
 */
import { canonicalJson } from "@svc-gateway/common/ir/canonical-json.ts";
import type { ObjectOf } from "@svc-gateway/operator/api/kinds.ts";
import type { World } from "@svc-gateway/operator/world.ts";
import { writeBalancing } from "./balancing.ts";
import { givenPolicies, sayGiven } from "./given-policies.ts";
import type { ServedUnit } from "./served-units.ts";
import type { ServicePorts } from "./service-ports.ts";
import { writePersistence } from "./persistence.ts";
import { policy, type Note, type WriterContext } from "./written.ts";

export type ServicePlans = {
  /** Defines the policies that are written beside the Ingress of a path, and notes what they do not say about the path. */
  readonly write: (unit: ServedUnit, define: WriterContext["define"]) => readonly Note[];
};

type Decided = {
  readonly value: object;
  /** The Ingress (`namespace/name`) that asks for it. */
  readonly by: string;
};

type Plan = {
  /** The Ingress beside which the policy is written. */
  owner?: string;
  loadBalancer?: Decided;
  persistence?: Decided;
};

/** `units`: the paths of all Ingresses, the oldest Ingress first. Services with a policy in the manifests get no other one. */
export function planServices(
  units: readonly ServedUnit[],
  ports: ServicePorts,
  world: Pick<World, "SvcBackendPolicy">,
): ServicePlans {
  const given = givenPolicies(world);
  const plans = new Map<string, Plan>();
  for (const unit of units) {
    for (const { service, loadBalancer, persistence } of wishesOf(unit)) {
      const plan = plans.get(service) ?? {};
      plans.set(service, plan);
      const by = unit.ingress;
      if (loadBalancer) plan.loadBalancer ??= { value: loadBalancer, by };
      if (persistence) plan.persistence ??= { value: persistence, by };
      if (loadBalancer || persistence || ports.askedBy(service) === by) plan.owner ??= by;
    }
  }
  return {
    write(unit, define) {
      const notes: Note[] = [...ports.notesOf(unit)];
      for (const { service, index, loadBalancer, persistence, note } of wishesOf(unit)) {
        const plan = plans.get(service) ?? {};
        const other = given.get(service);
        const decide = (wish: object | undefined, decided: Decided | undefined, texts: Texts) =>
          other === undefined
            ? noteOf(unit.ingress, service, wish, decided, texts)
            : noteOfGiven(service, other, wish, texts);
        notes.push(
          ...decide(loadBalancer, plan.loadBalancer, balancingTexts(index)),
          ...decide(persistence, plan.persistence, sessionTexts),
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

/** What a path asks for, of each Service of its namespace that it is sent to. */
function wishesOf({ route }: ServedUnit) {
  return route.backends.flatMap(({ service, balancing, unbound }, index) => {
    if (!service.startsWith(`${route.source.namespace}/`)) return [];
    const persistence = unbound === true ? undefined : writePersistence(route.affinity);
    return [{ service, index, persistence, ...writeBalancing(balancing) }];
  });
}

type Texts = Pick<Note, "property"> & {
  /** What is decided, after "how it". */
  readonly subject: string;
  /** What a path gets that did not ask for it. */
  readonly added: string;
};

const balancingTexts = (index: number): Texts => ({
  property: `backends[${index}].balancing`,
  subject: "chooses endpoints",
  added: "Endpoints are chosen in another way",
});

const sessionTexts: Texts = {
  property: "affinity",
  subject: "keeps sessions",
  added: "Sessions are kept as well, by a cookie",
};

function noteOf(
  ingress: string,
  service: string,
  wish: object | undefined,
  decided: Decided | undefined,
  { property, subject, added }: Texts,
): readonly Note[] {
  if (decided === undefined || decided.by === ingress) return [];
  const one = `Service ${service} has one policy, in which Ingress ${decided.by} decides how it ${subject}`;
  if (wish === undefined) {
    return [{ property, loss: "changed", text: `${added}: ${one}`, decidedBy: decided.by }];
  }
  if (canonicalJson(wish) === canonicalJson(decided.value)) return [];
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
