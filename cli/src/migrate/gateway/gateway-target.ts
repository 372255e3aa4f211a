/** Writes HTTPRoutes, GRPCRoutes and TLSRoutes of the Gateway API, with ListenerSets and policies of this gateway. */
import type { NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { ObjectOf } from "@svc-gateway/operator/api/kinds.ts";
import { nameOf, type KubeObject } from "@svc-gateway/operator/api/object.ts";
import { createLookup, type World } from "@svc-gateway/operator/world.ts";
import { planClients } from "../client-certificates.ts";
import { classTodo } from "../class-todo.ts";
import { ofIssuer, ofServer } from "../ingress-nodes.ts";
import { missingSecrets, redirectedHosts } from "../missing-secrets.ts";
import { nameTaken } from "../own-objects.ts";
import { passedHosts } from "../passthrough.ts";
import { servedRules, type ServedUnit } from "../served-units.ts";
import { planServices } from "../service-plans.ts";
import { collectServicePorts, createHttp2Check } from "../service-ports.ts";
import type { Target, TargetInput } from "../target.ts";
import { planListenerClients } from "./clients.ts";
import { gatewayApi, planListeners, writeGateway, writeListenerSet, type HostListener } from "./listeners.ts";
import { prefixPattern } from "./patterns.ts";
import { editRoutes } from "./route-nodes.ts";
import { writeRoutes } from "./routes.ts";
import { isGrpcUnit, speaksHttp2 } from "./rules.ts";
import type { UnitPlans } from "../write-unit.ts";

export type GatewayTargetOptions = {
  readonly gateway: NamespacedName;
  /** Whether the Gateway already exists and is therefore not written. */
  readonly isGiven: boolean;
  readonly gatewayClass: string;
  readonly controllerName: string;
};

export const gatewayTarget = (options: GatewayTargetOptions): Target => ({
  prepare: (input) => prepare(input, options),
});

function prepare(input: TargetInput, options: GatewayTargetOptions): ReturnType<Target["prepare"]> {
  const { world, translation, unitsOf, ingresses, isForeign, isGuessed } = input;
  const { gateway, isGiven, gatewayClass, controllerName } = options;
  const lookup = createLookup(world);
  const isHttp2 = createHttp2Check(world);
  // The converted units are kept, because notes are looked up by their unit.
  const regexHosts = hostsWithRegexes(ingresses.flatMap(({ metadata }) => unitsOf(nameOf(metadata))));
  const asRoutes = new Map(
    ingresses.map(({ metadata }) => [nameOf(metadata), onlyRegexes(unitsOf(nameOf(metadata)), regexHosts)]),
  );
  const units = [...asRoutes.values()].flat();
  const shared = sharedHosts(units);
  const ports = collectServicePorts(
    units,
    world,
    (unit) => !isGrpcUnit(unit, isHttp2) && !speaksHttp2(unit, isHttp2),
  );
  const redirected = redirectedHosts(ingresses.flatMap(({ metadata }) => unitsOf(nameOf(metadata))));
  const passed = passedHosts(translation);
  const hostsPassed = new Set(passed.keys());
  const missing = missingSecrets(ingresses, { redirected, passed: hostsPassed });
  const listeners = planListeners(ingresses, { missing, passed: hostsPassed });
  const clients = planClients({ units, ingresses, world, isForeign });
  const ofListeners = planListenerClients(units, listeners, clients);
  const plans: UnitPlans = {
    services: planServices(units, ports, world),
    clients: ofListeners,
    clientAnnotationsOf: () => ({}),
  };
  const existing = lookup("Gateway", gateway.namespace, gateway.name);
  const written = writeGateway(gateway, gatewayClass);
  const isNeeded = ingresses.length > 0 && !isGiven && existing === undefined;
  const guessed = new Set<string>();
  const todo = [
    ...(isNeeded ? classTodo("GatewayClass", gatewayClass, world) : []),
    ...(isGiven && existing === undefined
      ? [
          `Gateway ${gateway.namespace}/${gateway.name} needs a listener "http" on port 80, and allowedListeners and allowedRoutes for the namespaces of the routes`,
        ]
      : []),
    ...missing.map(
      ({ ingress, name, host }) =>
        `Secret ${ingress.metadata.namespace}/${name} must hold a certificate for ${host}, which no Ingress names one for`,
    ),
  ];
  return {
    write(ingress) {
      const { namespace } = ingress.metadata;
      const own = listeners.ownedBy(ingress);
      const routes = writeRoutes(ingress, {
        units: asRoutes.get(nameOf(ingress.metadata)) ?? [],
        gateway,
        listeners,
        isShared: (host) => shared.has(host),
        isTaken: nameTaken(world, namespace),
        portOf: (unit) => portOf(ingress, unit),
        rules: { isHttp2, plans },
      });
      for (const { route } of unitsOf(nameOf(ingress.metadata))) {
        for (const { endpoints } of route.backends)
          if (endpoints !== undefined && isGuessed(endpoints)) guessed.add(endpoints);
      }
      const set = writeListenerSet(own, gateway, {
        annotations: issuerAnnotations(ingress, own),
        optionsOf: ofListeners.optionsOf,
      });
      return {
        replace: (node) =>
          editRoutes(node, {
            routes: routes.routes,
            others: [...(set ? [set] : []), ...routes.policies],
            leaves: (key) => isForeign(key) || ofServer.has(key) || ofIssuer.test(key),
          }),
        moved: routes.moved,
        userLists: routes.userLists,
      };
    },
    writeCanary: () => () => [],
    shared: isNeeded ? [written] : [],
    authorities: [...ports.unlabelled, ...clients.unlabelled],
    assumed: [
      ...(existing === undefined ? [written] : []),
      ...gatewayClassOf(world, existing?.spec.gatewayClassName ?? gatewayClass, controllerName),
    ],
    served: (translated) => withoutInherit(servedRules(translated), hostsOf(translation)),
    get todo() {
      return [...todo, ...[...guessed].sort().map(guessText)];
    },
  };
}

/** The hosts on which several Ingresses have paths. */
const sharedHosts = (units: readonly ServedUnit[]): ReadonlySet<string> =>
  new Set(
    [...Map.groupBy(units, ({ host }) => host)].flatMap(([host, of]) =>
      of.some(({ ingress }) => ingress !== of[0]?.ingress) ? [host] : [],
    ),
  );

const guessText = (endpoints: string): string => {
  const [namespace = "", name = "", port = ""] = endpoints.split("/");
  return `Routes send to port ${port} of Service ${namespace}/${name}, which is a guess: Ingresses name the port, and the manifests do not hold the Service`;
};

const hostsOf = ({ routing }: TargetInput["translation"]): ReadonlySet<string> =>
  new Set(routing.hosts.map(({ host }) => host.host));

/** Removes `inherit` from hosts that no less specific host covers, because it has no effect there. */
function withoutInherit(
  units: ReadonlyMap<string, ServedUnit>,
  hosts: ReadonlySet<string>,
): ReadonlyMap<string, ServedUnit> {
  const isCovered = (host: string): boolean => {
    const labels = host.split(".");
    const wildcards = labels.slice(1).map((_, at) => `*.${labels.slice(at + 1).join(".")}`);
    return host !== "*" && ["*", ...wildcards].some((wildcard) => wildcard !== host && hosts.has(wildcard));
  };
  return new Map(
    [...units].map(([key, unit]) => {
      const ofHost = {
        ...unit.ofHost,
        inherit: unit.ofHost.inherit && isCovered(unit.host),
        ...(unit.host.startsWith("*.") && { takesLabels: "several" }),
      };
      return [key, { ...unit, ofHost }];
    }),
  );
}

const gatewayClassOf = (world: World, name: string, controllerName: string): readonly KubeObject[] =>
  world.GatewayClass.some(({ metadata }) => metadata.name === name)
    ? []
    : [
        {
          apiVersion: gatewayApi,
          kind: "GatewayClass",
          metadata: { name },
          spec: { controllerName },
        } as KubeObject,
      ];

/** The annotations of cert-manager, which reads the issuer from the object with the listeners. */
const issuerAnnotations = (
  { metadata }: ObjectOf<"Ingress">,
  own: readonly HostListener[],
): Readonly<Record<string, string>> =>
  own.length === 0
    ? {}
    : Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => ofIssuer.test(key)));

/** The port number that the path of a unit names; undefined if it names the port by its name. */
function portOf({ spec }: ObjectOf<"Ingress">, { part }: ServedUnit): number | undefined {
  const [rule, path] = part.split(".").map(Number);
  const backend = spec?.rules?.[rule ?? -1]?.http?.paths[path ?? -1]?.backend ?? spec?.defaultBackend;
  return backend?.service?.port?.number;
}

const hostsWithRegexes = (units: readonly ServedUnit[]): ReadonlySet<string> =>
  new Set(units.flatMap(({ route, host }) => (route.match.path.type === "regex" ? [host] : [])));

/**
 * Converts the paths of a host to regular expressions if the Ingress has any on it: in the Gateway API, prefixes would
 * precede them. Default backends are also converted on hosts on which another Ingress has any (`regexHosts`). Its other
 * prefixes are not, because they precede regular expressions of another namespace (docs/ingress-nginx.md).
 */
function onlyRegexes(units: readonly ServedUnit[], regexHosts: ReadonlySet<string>): readonly ServedUnit[] {
  const ownHosts = hostsWithRegexes(units);
  return units.map((unit) => {
    const { match, fallback } = unit.route;
    const hosts = fallback === undefined ? ownHosts : regexHosts;
    if (!hosts.has(unit.host) || match.path.type === "regex") return unit;
    const converted = { ...match, path: prefixPattern(match.path) };
    return { ...unit, route: { ...unit.route, match: converted }, matches: [converted] };
  });
}
