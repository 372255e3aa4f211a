/** Canaries of ingress-nginx as canaries of this gateway: Ingresses for the paths of which they take a part. */
import { canonicalJson } from "@svc-gateway/common/ir/canonical-json.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import type { ObjectOf } from "@svc-gateway/operator/api/kinds.ts";
import { nameOf } from "@svc-gateway/operator/api/object.ts";
import { partNames, writtenHost, writtenPath, type IngressPart, type IngressPath } from "./ingress-parts.ts";
import type { ServedUnit } from "./served-units.ts";

type Ingress = ObjectOf<"Ingress">;

/** What is known of the other Ingresses. */
export type Primaries = {
  /** The Ingresses that are no canaries. */
  readonly ingresses: readonly Ingress[];
  readonly unitsOf: (ingress: string) => readonly ServedUnit[];
};

/** A path of which a canary takes a part, and the host as the Ingress of the path has it. */
type CanaryPath = {
  readonly unit: ServedUnit;
  readonly host: string | undefined;
  readonly path: IngressPath;
};

/** The paths of which a canary takes a part; none: it gets no requests. */
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

/** A canary as Ingresses; more than one where its paths got different rules. */
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

/** The rule of the canary in the annotations of this gateway, as the route of its path has it. */
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

/** All paths of the rules with their positions, as parts of Ingresses are named. */
const pathsOf = ({ spec }: Ingress): readonly PlacedPath[] =>
  (spec?.rules ?? []).flatMap(({ host, http }, rule) =>
    (http?.paths ?? []).map((path, at) => ({ part: `${rule}.${at}`, host, path })),
  );
