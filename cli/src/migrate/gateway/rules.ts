/** Writes one path of an Ingress as rules of a route. */
import type { RouteMatch } from "@svc-gateway/common/ir/match.ts";
import type { Backend } from "@svc-gateway/common/ir/route.ts";
import type {
  HTTPRouteRule,
  HTTPRouteRuleBackendRef,
} from "@svc-gateway/operator/api/generated/httproute.ts";
import type { ServedUnit } from "../served-units.ts";
import { writeUnit, type UnitPlans } from "../write-unit.ts";
import type { Note, WriterContext } from "../written.ts";
import { writeFilters } from "./filters.ts";
import { routeConditions, routePath, writeMatch } from "./patterns.ts";

/** A rule, and whether it is of a GRPCRoute. */
export type PlannedRule = { readonly kind: "HTTPRoute" | "GRPCRoute"; readonly rule: HTTPRouteRule };

export type PathRules = {
  /** The rule that serves the path; `conditions` are the rules for its conditions, in order. */
  readonly serving: PlannedRule;
  readonly conditions: readonly PlannedRule[];
  /** The redirect of requests without TLS; undefined if they are served alike. */
  readonly redirect?: PlannedRule;
  /** The rule that closes the path for requests without TLS, which have no client certificate; otherwise undefined. */
  readonly closedPlain?: PlannedRule;
  readonly notes: readonly Note[];
  /** The Secret with users that its annotations name, as `namespace/name`. */
  readonly userList?: string;
};

export type RuleOptions = {
  readonly define: WriterContext["define"];
  /** Whether the Service port itself specifies HTTP/2. */
  readonly isHttp2: (endpoints: string) => boolean;
  readonly plans: UnitPlans;
  /** The port number that the Ingress names, for a Service without an endpoint set. */
  readonly writtenPort: number | undefined;
  /** Whether TLS connections of the host are passed through, so that its rules are for requests without TLS only. */
  readonly isPassed: boolean;
};

export function writePathRules(unit: ServedUnit, options: RuleOptions): PathRules {
  const { route } = unit;
  const [namespace = ""] = unit.ingress.split("/");
  const { annotations, notes } = writeUnit(unit, options.plans, options.define);
  const filters = writeFilters(annotations, route.features?.cors, options);
  const method = isGrpcUnit(unit, options.isHttp2) ? grpcMethod(unit) : undefined;
  const rule = (weights: readonly number[] | undefined, when: Omit<RouteMatch, "path">): PlannedRule => {
    const backendRefs = refsOf(route.backends, weights, namespace, options);
    const body = {
      ...(filters.length > 0 && { filters }),
      ...(backendRefs.length > 0 && { backendRefs }),
    };
    if (method !== undefined) {
      const [match] = [writeMatch(route.match.path, when)].map(({ headers }) => ({
        ...(method.service !== undefined && { method }),
        ...(headers && { headers }),
      }));
      const matches = match !== undefined && Object.keys(match).length > 0 ? [match] : undefined;
      return {
        kind: "GRPCRoute",
        rule: { ...(matches && { matches }), ...body } as unknown as HTTPRouteRule,
      };
    }
    const matches = unit.matches.map(({ path }) => writeMatch(routePath(path), when));
    return { kind: "HTTPRoute", rule: { matches, ...body } };
  };
  const redirect = route.features?.redirect === undefined ? route.features?.["ssl-redirect"] : undefined;
  const serving = rule(undefined, {});
  const asksOnTls = route.clients?.byRequest !== undefined && redirect === undefined && !options.isPassed;
  return {
    serving,
    ...(asksOnTls && { closedPlain: closePlain(serving, options.define) }),
    conditions: (route.choices ?? []).map(({ when, weights }) => rule(weights, routeConditions(when))),
    ...(redirect && {
      redirect: {
        kind: "HTTPRoute",
        rule: {
          matches: unit.matches.map(({ path }) => writeMatch(routePath(path), {})),
          filters: [
            {
              type: "RequestRedirect",
              requestRedirect: { scheme: "https", statusCode: redirect.statusCode as 308 },
            },
          ],
        },
      },
    }),
    notes,
    ...(annotations["auth-basic-secret"] !== undefined && { userList: annotations["auth-basic-secret"] }),
  };
}

/** The annotation that closes every path. */
export const closedAnnotation = { name: "closed-paths", value: "/" } as const;

const closePlain = ({ kind, rule }: PlannedRule, define: RuleOptions["define"]): PlannedRule => ({
  kind,
  rule: {
    ...rule,
    filters: writeFilters({ [closedAnnotation.name]: closedAnnotation.value }, undefined, { define }),
  },
});

function refsOf(
  backends: readonly Backend[],
  weights: readonly number[] | undefined,
  namespace: string,
  { writtenPort }: RuleOptions,
): readonly HTTPRouteRuleBackendRef[] {
  return backends.flatMap(({ service, endpoints, weight }, index): readonly HTTPRouteRuleBackendRef[] => {
    const [owner = "", name = ""] = service.split("/");
    if (name === "") return [];
    const port = endpoints === undefined ? writtenPort : Number(endpoints.split("/")[2]);
    const share = weights === undefined ? weight : (weights[index] ?? 0);
    // A condition chooses one of the backends.
    if (weights !== undefined && share === 0) return [];
    return [
      {
        name,
        ...(owner !== namespace && { namespace: owner }),
        ...(port !== undefined && { port }),
        ...(backends.length > 1 && weights === undefined && { weight: share }),
      },
    ];
  });
}

type Http2Check = RuleOptions["isHttp2"];

/** Whether a Service port of the unit itself specifies HTTP/2. */
export const speaksHttp2 = ({ route: { backends } }: ServedUnit, isHttp2: Http2Check): boolean =>
  backends.some(({ endpoints }) => endpoints !== undefined && isHttp2(endpoints));

/** Whether a unit becomes a GRPCRoute: only the Ingress specifies HTTP/2, and there is no rewrite or redirect. */
export function isGrpcUnit(unit: ServedUnit, isHttp2: Http2Check): boolean {
  const [first] = unit.route.backends;
  const { redirect, "rewrite-target": rewrite } = unit.route.features ?? {};
  return (
    first?.protocol === "http2" &&
    first.endpoints !== undefined &&
    !speaksHttp2(unit, isHttp2) &&
    redirect === undefined &&
    rewrite === undefined &&
    grpcMethod(unit) !== undefined
  );
}

/** The gRPC method of a path; undefined if it is not the path of a method. */
function grpcMethod({ matches }: ServedUnit): { service?: string; method?: string } | undefined {
  const [match, ...others] = matches;
  if (match === undefined || others.length > 0) return undefined;
  const { type, value } = match.path;
  if (type === "prefix") {
    if (value === "/") return {};
    return /^\/[\w.]+$/.test(value) ? { service: value.slice(1) } : undefined;
  }
  const [, service, method] = (type === "exact" && /^\/([\w.]+)\/(\w+)$/.exec(value)) || [];
  return service === undefined || method === undefined ? undefined : { service, method };
}
