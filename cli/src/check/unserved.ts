/**
 * Finds manifests that are not for this gateway: of other controllers, or excluded by a flag (docs/cli.md, "check").
 */
import type { ObjectOf } from "@svc-gateway/operator/api/kinds.ts";
import { formatRef, refOf, type KubeObject } from "@svc-gateway/operator/api/object.ts";
import { notWatched, otherController } from "@svc-gateway/operator/translate/diagnostics/objects.ts";
import type { Diagnostic } from "@svc-gateway/operator/translate/finding.ts";
import { gatewayGroup, isMisnamedParent } from "@svc-gateway/operator/translate/gateway/kinds.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";
import { isLeftOut } from "@svc-gateway/operator/translate/watched-namespaces.ts";
import type { World } from "@svc-gateway/operator/world.ts";
import type { FolderSettings } from "../command-flags.ts";

type Settings = Pick<
  FolderSettings,
  | "controllerName"
  | "ingressClass"
  | "watchNamespace"
  | "disableIngress"
  | "disableGatewayApi"
  | "ingressNginxClasses"
>;

/** The reasons of these findings. */
export const unservedReasons: ReadonlySet<string> = new Set(["OtherController", "NotWatched"]);

const excludedBy = (object: KubeObject, flag: string): Diagnostic =>
  notWatched({ object: refOf(object) }, flag);

/** Returns a finding for each class, Ingress, Gateway and route that is not for this gateway. */
export function findUnserved(
  world: World,
  translation: Translation,
  settings: Settings,
): readonly Diagnostic[] {
  const { watchNamespace, disableIngress, disableGatewayApi } = settings;
  const leftOut = (Object.values(world) as readonly (readonly KubeObject[])[])
    .flat()
    .filter((object) => isLeftOut(object, watchNamespace));
  const ofIngresses = disableIngress
    ? world.Ingress.map((one) => excludedBy(one, "--disable-ingress is set"))
    : ingressesOfOthers(world, translation, settings);
  const ofGateways = disableGatewayApi
    ? gatewayKinds.flatMap((kind) =>
        world[kind].map((one) => excludedBy(one, "--disable-gateway-api is set")),
      )
    : gatewaysOfOthers(world, settings);
  const namespaces = leftOut.map((one) =>
    excludedBy(one, "--watch-namespace does not include its namespace"),
  );
  const known = new Set(namespaces.map(({ object }) => formatRef(object)));
  return [
    ...namespaces,
    ...[...ofIngresses, ...ofGateways].filter(({ object }) => !known.has(formatRef(object))),
  ];
}

const routeKinds = ["HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"] as const;
const gatewayKinds = ["GatewayClass", "Gateway", "ListenerSet", ...routeKinds] as const;

function ingressesOfOthers(
  world: World,
  { ingresses, diagnostics }: Translation,
  settings: Settings,
): readonly Diagnostic[] {
  const served = new Set(ingresses.map((ingress) => formatRef(refOf(ingress))));
  const explained = new Set(diagnostics.map(({ object }) => formatRef(object)));
  const classes = new Map(world.IngressClass.map((one) => [one.metadata.name, one]));
  const servedClasses = new Set([
    ...settings.ingressNginxClasses,
    ...ingresses.flatMap((one) => classNameOf(one) ?? []),
  ]);
  const ofIngresses = world.Ingress.flatMap((ingress) => {
    const name = formatRef(refOf(ingress));
    const named = classNameOf(ingress);
    const found = named === undefined ? undefined : classes.get(named);
    if (found === undefined || served.has(name) || explained.has(name)) return [];
    return [otherController({ object: refOf(ingress) }, describeClass(found, settings))];
  });
  const ofClasses = world.IngressClass.filter(
    ({ metadata, spec }) => spec?.controller !== settings.controllerName && !servedClasses.has(metadata.name),
  ).map((one) => otherController({ object: refOf(one) }, describeClass(one, settings)));
  return [...ofClasses, ...ofIngresses];
}

function gatewaysOfOthers(world: World, { controllerName }: Settings): readonly Diagnostic[] {
  const others = new Map(
    world.GatewayClass.filter(({ spec }) => spec.controllerName !== controllerName).map((one) => [
      one.metadata.name,
      `GatewayClass ${one.metadata.name} belongs to the controller ${one.spec.controllerName}`,
    ]),
  );
  const gateways = new Map(
    world.Gateway.flatMap((gateway) => {
      const why = others.get(gateway.spec.gatewayClassName);
      return why === undefined ? [] : [[formatRef(refOf(gateway)), { gateway, why }] as const];
    }),
  );
  const routes = routeKinds.flatMap((kind): readonly ObjectOf<typeof kind>[] => world[kind]);
  return [
    ...world.GatewayClass.flatMap((one) => {
      const why = others.get(one.metadata.name);
      return why === undefined ? [] : [otherController({ object: refOf(one) }, why)];
    }),
    ...[...gateways.values()].map(({ gateway, why }) => otherController({ object: refOf(gateway) }, why)),
    ...routes.flatMap((route) => {
      const parents = (route.spec?.parentRefs ?? []).map((parent) => {
        const { group = gatewayGroup, kind = "Gateway", namespace = route.metadata.namespace, name } = parent;
        if (group === gatewayGroup) return gateways.get(formatRef({ kind, namespace, name }));
        // Parents of other kinds belong to other controllers: a service mesh, for example, serves those of Services.
        if (isMisnamedParent(group, kind)) return undefined;
        return { why: `no route attaches to ${kind} ${namespace}/${name} here` };
      });
      const [first] = parents;
      if (first === undefined || parents.includes(undefined)) return [];
      return [
        otherController({ object: refOf(route) }, `Its parents are of other controllers: ${first.why}`),
      ];
    }),
  ];
}

const describeClass = (
  { metadata, spec }: ObjectOf<"IngressClass">,
  { controllerName, ingressClass }: Settings,
): string =>
  spec?.controller === controllerName
    ? `IngressClass ${metadata.name} is not the one that --ingress-class ${ingressClass ?? ""} names`
    : `IngressClass ${metadata.name} belongs to the controller ${spec?.controller ?? "without a name"}${hintOf(metadata.name, spec?.controller)}`;

const hintOf = (name: string, controller: string | undefined): string =>
  controller === "k8s.io/ingress-nginx" ? ` (--ingress-nginx-classes ${name} serves it)` : "";

/** The class that an Ingress names, in its field or in the deprecated annotation. */
const classNameOf = ({ metadata, spec }: ObjectOf<"Ingress">): string | undefined =>
  spec?.ingressClassName || metadata.annotations?.["kubernetes.io/ingress.class"];
