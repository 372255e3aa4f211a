/** Converts canaries of ingress-nginx to canaries of this gateway: Ingresses for paths whose requests they share. */
import { canonicalJson } from "@svc-gateway/common/ir/canonical-json.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import type { ObjectOf } from "@svc-gateway/operator/api/kinds.ts";
import { nameOf } from "@svc-gateway/operator/api/object.ts";
import { partNames, writtenHost, writtenPath, type IngressPart, type IngressPath } from "./ingress-parts.ts";
import type { ServedUnit } from "./served-units.ts";

type Ingress = ObjectOf<"Ingress">;

/** The Ingresses other than canaries. */
export type Primaries = {
  /** The Ingresses that are not canaries. */
  readonly ingresses: readonly Ingress[];
  readonly unitsOf: (ingress: string) => readonly ServedUnit[];
};

/** A path whose requests a canary shares, and the host as written in the Ingress of the path. */
type CanaryPath = {
  readonly unit: ServedUnit;
  readonly host: string | undefined;
  readonly path: IngressPath;
};

/** Finds the paths whose requests a canary shares; without any, it gets no requests. */
export function canaryPaths(canary: Ingress, { ingresses, unitsOf }: Primaries): readonly CanaryPath[] {
  const { namespace } = canary.metadata;
  const own = ingresses.filter(({ metadata }) => metadata.namespace === namespace);
  return pathsOf(canary).flatMap(({ host, path }) =>
    own.flatMap((primary) => {
      const places = pathsOf(primary).filter(
        (one) =>
          (one.host ?? "").toLowerCase() === (host ?? "").toLowerCase() &&
          (one.path.path ?? "/") === (path.path ?? "/") &&
          one.path.pathType === path.pathType,
      );
      const units = unitsOf(nameOf(primary.metadata));
      return places.flatMap((place) =>
        units
          .filter(
            ({ part, route }) =>
              part === place.part &&
              route.backends[1]?.service === `${namespace}/${path.backend.service?.name ?? ""}`,
          )
          .map((unit) => ({ unit, host: writtenHost(unit, place.host), path })),
      );
    }),
  );
}

/** Writes a canary as Ingresses; several if its paths have different rules. */
export function writeCanary(
  { metadata: { name } }: Ingress,
  paths: readonly CanaryPath[],
  isTaken: (name: string) => boolean,
): readonly IngressPart[] {
  const groups = [...Map.groupBy(paths, ({ unit }) => canonicalJson(annotationsOf(unit.route))).values()];
  const names = partNames(name, groups.length, isTaken);
  return groups.map((group, at) => ({
    name: names[at] ?? name,
    annotations: group[0] === undefined ? {} : annotationsOf(group[0].unit.route),
    rules: [...Map.groupBy(group, ({ host }) => host)].map(([host, ofHost]) => ({
      ...(host !== undefined && { host }),
      http: { paths: ofHost.map(({ unit, path }) => writtenPath(unit, path)) },
    })),
    defaultBackend: undefined,
  }));
}

/** The rules of the canary as annotations of this gateway, from the route of its path. */
function annotationsOf({ backends, choices = [] }: Route): Readonly<Record<string, string>> {
  const [primary, canary] = backends;
  const weight = canary?.weight ?? 0;
  const total = weight + (primary?.weight ?? 0);
  const values = (name: "headers" | "cookies") =>
    choices.flatMap(({ when, weights }) => {
      const [match] = when[name] ?? [];
      return match === undefined ? [] : [{ ...match, takes: weights[1] !== 0 }];
    });
  const [header, ...others] = values("headers");
  const [cookie] = values("cookies");
  return {
    canary: "true",
    ...((weight > 0 || choices.length === 0) && { "canary-weight": String(weight) }),
    ...(total !== 100 && { "canary-weight-total": String(total) }),
    ...(header && { "canary-by-header": header.name }),
    ...(header?.type === "exact" && others.length === 0 && { "canary-by-header-value": header.value }),
    ...(header?.type === "regex" && { "canary-by-header-pattern": header.value }),
    ...(cookie && { "canary-by-cookie": cookie.name }),
  };
}

type PlacedPath = { readonly part: string; readonly host: string | undefined; readonly path: IngressPath };

/** All paths of the rules, with their positions in the form of the names of parts. */
const pathsOf = ({ spec }: Ingress): readonly PlacedPath[] =>
  (spec?.rules ?? []).flatMap(({ host, http }, rule) =>
    (http?.paths ?? []).map((path, at) => ({ part: `${rule}.${at}`, host, path })),
  );
