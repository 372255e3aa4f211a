/**
 * Marks the objects that invalid ones name (operator/src/api/stand-in.ts) as closed: they answer 503, or carry no
 * connection, until what should protect them can be read. See docs/standalone.md, "Objects that protect".
 */
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
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

/** What is closed of an object, and by which invalid objects. */
export type Closure = {
  readonly by: readonly ObjectRef[];
  /** Listeners of a Gateway, ports of a Service by name; undefined: all of them. */
  readonly sections: ReadonlySet<string> | undefined;
  /** Whether what is carried below HTTP is closed as well. */
  readonly belowHttp: boolean;
};

const mark: unique symbol = Symbol("closed");

/** How an object is closed; undefined: it is not. */
export const closureOf = (object: object): Closure | undefined =>
  (object as { readonly [mark]?: Closure })[mark];

/** Whether everything of an object is closed. */
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

/**
 * The features of a closed route: an authorization service that cannot be reached, so that every request gets 503.
 */
export const closeAll = (features: RouteFeatures | undefined): RouteFeatures => ({
  ...features,
  "ext-auth": [{}],
});

/** The features of a route of this object, closed where the object is. */
export const closeFeatures = (
  object: object,
  features: RouteFeatures | undefined,
): RouteFeatures | undefined => (isClosed(object) ? closeAll(features) : features);

type StandIn = ObjectOf<AttachingKind>;

const standInsOf = memo((list: readonly StandIn[]): readonly StandIn[] => list.filter(isStandIn));

type Closed = { readonly world: World; readonly diagnostics: readonly Diagnostic[] };

/** The world with what invalid objects of the served namespaces close marked; the same lists while their inputs are the same. */
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
    // Each list is that of its kind, with some objects in marked form.
    return { world: { ...world, ...changed } as World, diagnostics };
  };
}

type ClosingRequest = { readonly object: KubeObject; readonly target: ClosedTarget; readonly by: StandIn };

/** The existing objects that are closed. An object closes nothing in another namespace. */
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

/** The part that is named; undefined for all of it, and where there is no such part. */
function sectionOf(object: KubeObject, { sectionName }: ClosedTarget, by: StandIn): string | undefined {
  // The others are about all of what they name.
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

/** The same marked object while the object and its closure are the same. */
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
