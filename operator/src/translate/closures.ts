/**
 * Marks the objects that invalid policies target (operator/src/api/stand-in.ts) as closed: they answer 503, or
 * carry no connection, until the policies that should protect them can be read. See docs/standalone.md,
 * "Objects that protect".
 */
import { closedService } from "@svc-gateway/common/features/ext-auth.ts";
import {
  features as declared,
  type FeatureSlug,
  type RouteFeatures,
} from "@svc-gateway/common/features/registry.ts";
import type { ObjectOf } from "../api/kinds.ts";
import { formatRef, refOf, type KubeObject, type ObjectRef } from "../api/object.ts";
import {
  attachingKinds,
  isStandIn,
  targetsOfStandIn,
  type AttachingKind,
  type ClosableKind,
  type ClosedTarget,
} from "../api/stand-in.ts";
import { createLookup, updateWorld, type World } from "../world.ts";
import { targetClosed } from "./diagnostics/policies.ts";
import type { Diagnostic } from "./finding.ts";
import { memo } from "./incremental/memo.ts";

/** The closed parts of an object, and the invalid objects that close them. */
export type Closure = {
  readonly by: readonly ObjectRef[];
  /** Listeners of a Gateway, or ports of a Service, by name; undefined if all of them are closed. */
  readonly sections: ReadonlySet<string> | undefined;
  /** Whether traffic below HTTP is closed as well. */
  readonly belowHttp: boolean;
};

const mark: unique symbol = Symbol("closed");

/** The closure of an object; undefined if it is not closed. */
export const closureOf = (object: object): Closure | undefined =>
  (object as { readonly [mark]?: Closure })[mark];

/** Whether an object is closed as a whole. */
export const isClosed = (object: object): boolean => {
  const closure = closureOf(object);
  return closure !== undefined && closure.sections === undefined;
};

/** The objects of a list without stand-ins for invalid ones. */
export const withoutStandIns: <T extends KubeObject>(list: readonly T[]) => readonly T[] = (() => {
  const filtered = memo((list: readonly KubeObject[]) =>
    list.some(isStandIn) ? list.filter((object) => !isStandIn(object)) : list,
  );
  return <T extends KubeObject>(list: readonly T[]) => filtered(list) as readonly T[];
})();

/** Closes the features of a route: every request is answered 503. */
export function closeAll(features: RouteFeatures | undefined): RouteFeatures {
  const { satisfy: _, ...rest } = features ?? {};
  return { ...rest, "ext-auth": closedService };
}

type Declaration = { readonly closing?: unknown };

/** Whether a value of a feature is the one that closes routes because of an invalid object or annotation. */
export function isClosing(slug: FeatureSlug, value: unknown): boolean {
  const { closing }: Declaration = declared[slug];
  return closing !== undefined && value === closing;
}

/**
 * Lets no other check replace the authentication by an invalid object (docs/features/satisfy.md). An object that does
 * not exist is a check that cannot be performed, which another one can replace.
 */
export function keepClosed(features: RouteFeatures): RouteFeatures {
  const slugs = ["auth-basic-secret", "auth-jwt"] as const;
  if (!slugs.some((slug) => isClosing(slug, features[slug]))) return features;
  return { ...features, "ext-auth": closedService };
}

/** The features of a route of this object, closed if the object is closed. */
export const closeFeatures = (
  object: object,
  features: RouteFeatures | undefined,
): RouteFeatures | undefined => (isClosed(object) ? closeAll(features) : features);

type StandIn = ObjectOf<AttachingKind>;

const standInsOf = memo((list: readonly StandIn[]): readonly StandIn[] => list.filter(isStandIn));

type Closed = { readonly world: World; readonly diagnostics: readonly Diagnostic[] };

/**
 * Marks the objects that invalid objects of the served namespaces close. Lists are the same until their inputs
 * change.
 */
export function createCloser(isWatched: (namespace: string) => boolean): (world: World) => Closed {
  const lists = new Map<
    ClosableKind,
    { readonly from: object; readonly form: string; readonly to: object }
  >();
  const markObject = createMarker();
  return (world) => {
    const standIns = attachingKinds
      .flatMap((kind) => standInsOf(world[kind]))
      .filter(({ metadata }) => isWatched(metadata.namespace));
    if (standIns.length === 0) return { world, diagnostics: [] };
    const changed: Partial<Record<ClosableKind, unknown>> = {};
    const diagnostics: Diagnostic[] = [];
    for (const [kind, requests] of Map.groupBy(requestsOf(standIns, world), ({ target }) => target.kind)) {
      const closed = [...Map.groupBy(requests, ({ object }) => object)].map(([object, ofObject]) => ({
        object,
        closure: joinRequests(object, ofObject),
      }));
      diagnostics.push(...closed.map(({ object, closure }) => describe(object, closure)));
      const form = closed.map(({ object, closure }) => formOf(object, closure)).join("\n");
      const known = lists.get(kind);
      if (known?.from !== world[kind] || known.form !== form) {
        const marked = closed.map(({ object, closure }) => markObject(object, closure));
        const edited = updateWorld(
          world,
          marked.map((object) => ({ type: "apply", object })),
        );
        lists.set(kind, { from: world[kind], form, to: edited[kind] });
      }
      changed[kind] = lists.get(kind)?.to;
    }
    // Each list has the objects of its kind, some of them marked.
    return { world: { ...world, ...changed } as World, diagnostics };
  };
}

type ClosingRequest = { readonly object: KubeObject; readonly target: ClosedTarget; readonly by: StandIn };

/** The existing objects to close. An object closes nothing in another namespace. */
function requestsOf(standIns: readonly StandIn[], world: World): readonly ClosingRequest[] {
  const lookup = createLookup(world);
  return standIns.flatMap((by) =>
    (targetsOfStandIn(by) ?? []).flatMap((target): ClosingRequest | [] => {
      const object = lookup(target.kind, by.metadata.namespace, target.name);
      return object === undefined ? [] : { object, target, by };
    }),
  );
}

function joinRequests(object: KubeObject, requests: readonly ClosingRequest[]): Closure {
  const sections = requests.map(({ target, by }) => sectionOf(object, target, by));
  const named = sections.filter((section) => section !== undefined);
  return {
    by: [...new Map(requests.map(({ by }) => [formatRef(refOf(by)), refOf(by)])).values()],
    sections: named.length === sections.length ? new Set(named) : undefined,
    // SvcExternalAuths authorize requests, not connections.
    belowHttp: requests.some(({ by }) => by.kind !== "SvcExternalAuth"),
  };
}

/** The section that the target names; undefined for the whole object, and if there is no such section. */
function sectionOf(object: KubeObject, { sectionName }: ClosedTarget, by: StandIn): string | undefined {
  // Policies of other kinds apply to the whole target.
  if (sectionName === undefined || (by.kind !== "ClientTrafficPolicy" && by.kind !== "BackendTLSPolicy")) {
    return undefined;
  }
  return sectionsOf(object).includes(sectionName) ? sectionName : undefined;
}

function sectionsOf(object: KubeObject): readonly (string | undefined)[] {
  const { spec = {} } = object as { readonly spec?: Partial<ObjectOf<"Gateway">["spec"]> };
  const { ports = [] } = spec as NonNullable<ObjectOf<"Service">["spec"]>;
  return [...(spec.listeners ?? []), ...ports].map(({ name }) => name);
}

const formOf = (object: KubeObject, { by, sections, belowHttp }: Closure): string =>
  JSON.stringify([refOf(object), by, sections && [...sections], belowHttp]);

/** Returns the same marked object until the object or its closure changes. */
function createMarker(): (object: KubeObject, closure: Closure) => KubeObject {
  const known = new WeakMap<KubeObject, { readonly form: string; readonly marked: KubeObject }>();
  return (object, closure) => {
    const form = formOf(object, closure);
    const last = known.get(object);
    if (last?.form === form) return last.marked;
    const marked = { ...object, [mark]: closure };
    known.set(object, { form, marked });
    return marked;
  };
}

function describe(object: KubeObject, { by, sections }: Closure): Diagnostic {
  const parts = sections === undefined ? undefined : [...sections].join(", ");
  return targetClosed({ object: refOf(object) }, by.map(formatRef).join(", "), parts);
}
