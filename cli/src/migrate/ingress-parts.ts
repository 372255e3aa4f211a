/** Writes an Ingress of ingress-nginx as Ingresses of this gateway, one for all paths that are served alike. */
import { canonicalJson } from "@svc-gateway/common/ir/canonical-json.ts";
import { compileRegex } from "@svc-gateway/common/values/regex.ts";
import type { ObjectOf } from "@svc-gateway/operator/api/kinds.ts";
import type { KubeObject } from "@svc-gateway/operator/api/object.ts";
import { collectObjects, boundedName } from "./own-objects.ts";
import type { MovedUnit } from "./compare.ts";
import type { ServedUnit } from "./served-units.ts";
import { writeUnit, type UnitPlans } from "./write-unit.ts";
import type { Note, WriterContext } from "./written.ts";

type Rules = NonNullable<NonNullable<ObjectOf<"Ingress">["spec"]>["rules"]>;
export type IngressPath = NonNullable<Rules[number]["http"]>["paths"][number];
type IngressBackend = NonNullable<NonNullable<ObjectOf<"Ingress">["spec"]>["defaultBackend"]>;

/** One of the Ingresses that are written. */
export type IngressPart = {
  readonly name: string;
  /** The annotations of this gateway, by names without prefix. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly rules: Rules;
  readonly defaultBackend: IngressBackend | undefined;
};

export type WrittenIngress = {
  /** The parts, the first of which keeps the name of the Ingress. */
  readonly parts: readonly IngressPart[];
  readonly objects: readonly KubeObject[];
  readonly moved: readonly MovedUnit[];
};

export type PartsContext = {
  /** The units of the Ingress, in the order of its hosts. */
  readonly units: readonly ServedUnit[];
  /** Whether the namespace has an object of a kind and name. */
  readonly isTaken: (kind: string, name: string) => boolean;
  readonly plans: UnitPlans;
};

type Entry = {
  readonly unit: ServedUnit | undefined;
  readonly host: string | undefined;
  /** The path in the Ingress; undefined for the default backend. */
  readonly path: IngressPath | undefined;
  readonly annotations: Readonly<Record<string, string>>;
  readonly notes: readonly Note[];
};

/** Writes the parts of an Ingress. */
export function writeIngress(ingress: ObjectOf<"Ingress">, context: PartsContext): WrittenIngress {
  const { namespace, name } = ingress.metadata;
  const collected = collectObjects({ namespace, name }, context.isTaken);
  const entries = entriesOf(ingress, context, collected.define);
  const groups = [...Map.groupBy(entries, ({ annotations }) => canonicalJson(annotations)).values()];
  // The part with the most paths keeps the name; with regular expressions, the part whose paths are tried first.
  if (!entries.some(({ unit }) => unit?.route.match.path.type === "regex"))
    groups.sort((a, b) => b.length - a.length);
  if (groups.length === 0) groups.push([]);
  const names = partNames(name, groups.length, (other) => context.isTaken("Ingress", other));
  const parts: IngressPart[] = [];
  const moved: MovedUnit[] = [];
  for (const [at, group] of groups.entries()) {
    const part = buildPart(names[at] ?? name, ingress, group, at === 0);
    parts.push(part.ingress);
    for (const { entry, part: id } of part.places) {
      if (entry.unit === undefined) continue;
      const after = `${namespace}/${part.ingress.name} ${entry.unit.host} ${id}`;
      moved.push({ before: entry.unit, notes: entry.notes, after });
    }
  }
  return { parts, objects: collected.objects(), moved };
}

function entriesOf(
  ingress: ObjectOf<"Ingress">,
  { units, plans }: PartsContext,
  define: WriterContext["define"],
): readonly Entry[] {
  const { rules = [], defaultBackend } = ingress.spec ?? {};
  const entries: (Entry & { readonly order: number })[] = [];
  const add = (unit: ServedUnit, host: string | undefined, path: IngressPath | undefined): void => {
    entries.push({ unit, host, path, ...writeUnit(unit, plans, define), order: unit.places[0] ?? 0 });
  };
  const written = new Set<ServedUnit>();
  for (const [at, { host, http }] of rules.entries()) {
    for (const [index, path] of (http?.paths ?? []).entries()) {
      for (const unit of units.filter(({ part }) => part === `${at}.${index}`)) {
        written.add(unit);
        add(unit, writtenHost(unit, host), writtenPath(unit, path));
      }
    }
  }
  for (const unit of units) {
    if (written.has(unit)) continue;
    const host = unit.host === "*" ? undefined : unit.host;
    if (unit.part === "default" && host !== undefined && defaultBackend !== undefined) {
      // The default backend of an Ingress would also get the requests of all other hosts.
      const last = asLastPath(unit, units);
      add(last, host, writtenPath(last, { path: "/", pathType: "Prefix", backend: defaultBackend }));
    } else if (unit.part === "default") add(unit, host, undefined);
    else {
      const backend = backendOf(rules) ?? defaultBackend;
      if (backend !== undefined)
        add(unit, host, writtenPath(unit, { path: "/", pathType: "Prefix", backend }));
    }
  }
  return entries.sort((a, b) => (a.host ?? "").localeCompare(b.host ?? "") || a.order - b.order);
}

/** Converts a unit to the path that takes all remaining requests: with regular expressions, the shortest of them. */
function asLastPath(unit: ServedUnit, units: readonly ServedUnit[]): ServedUnit {
  const { fallback: _, ...route } = unit.route;
  const isRegex = units.some(
    ({ host, route: { match } }) => host === unit.host && match.path.type === "regex",
  );
  if (!isRegex) return { ...unit, route };
  return { ...unit, route: { ...route, match: { path: { type: "regex", value: "/" } } } };
}

const backendOf = (rules: Rules): IngressBackend | undefined =>
  rules.flatMap(({ http }) => http?.paths ?? []).find(({ backend }) => backend.service !== undefined)
    ?.backend;

/** The host of the rule for a unit; a further name of the host has its own rule. */
export const writtenHost = (unit: ServedUnit, host: string | undefined): string | undefined =>
  unit.host === (host ?? "*").toLowerCase() ? host : unit.host;

/** Writes the path with the match of the route. */
export function writtenPath({ route, part }: ServedUnit, { path, backend }: IngressPath): IngressPath {
  const { type, value } = route.match.path;
  const isSpecial = part === "app-root" || part === "www";
  if (type === "regex")
    return { path: servablePath(value, path ?? "/"), pathType: "ImplementationSpecific", backend };
  return {
    path: isSpecial ? value : (path ?? "/"),
    pathType: type === "exact" ? "Exact" : "Prefix",
    backend,
  };
}

/** The path to write: for an invalid regular expression its literal beginning, which the route closes instead. */
const servablePath = (served: string, path: string): string =>
  compileRegex(path, { whole: false }).ok ? path : served.replace(/^\(\?i\)\^/, "");

type BuiltPart = {
  readonly ingress: IngressPart;
  /** The position of each entry, in the form of the ids of routes. */
  readonly places: readonly { readonly entry: Entry; readonly part: string }[];
};

function buildPart(
  name: string,
  { spec: { rules: before = [], defaultBackend } = {} }: ObjectOf<"Ingress">,
  group: readonly Entry[],
  isFirst: boolean,
): BuiltPart {
  // Hosts are in the order of the Ingress, followed by further names.
  const hosts = new Map<string | undefined, Entry[]>(before.map(({ host }) => [host, []]));
  for (const entry of group) {
    const ofHost = hosts.get(entry.host);
    if (ofHost === undefined) hosts.set(entry.host, [entry]);
    else ofHost.push(entry);
  }
  const isDefault = group.some(({ path }) => path === undefined);
  const kept = [...hosts].filter(
    ([host, entries]) => entries.some(({ path }) => path !== undefined) || (isDefault && host !== undefined),
  );
  const places: { entry: Entry; part: string }[] = [];
  const rules = kept.map(([host, entries], rule) => {
    const paths: IngressPath[] = [];
    for (const entry of entries) {
      if (entry.path === undefined) continue;
      places.push({ entry, part: `${rule}.${paths.length}` });
      paths.push(entry.path);
    }
    return { ...(host !== undefined && { host }), ...(paths.length > 0 && { http: { paths } }) };
  });
  for (const entry of group) if (entry.path === undefined) places.push({ entry, part: "default" });
  return {
    ingress: {
      name,
      annotations: group[0]?.annotations ?? {},
      rules: isFirst && group.length === 0 ? before : rules,
      defaultBackend: isDefault ? defaultBackend : undefined,
    },
    places,
  };
}

/** The names of the Ingresses that replace one; the first keeps its name. */
export function partNames(
  name: string,
  count: number,
  isTaken: (name: string) => boolean,
): readonly string[] {
  const names = [name];
  for (let number = 2; names.length < count; number++) {
    const tried = boundedName(name, `-${number}`);
    if (!isTaken(tried)) names.push(tried);
  }
  return names;
}
