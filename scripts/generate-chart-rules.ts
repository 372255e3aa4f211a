/**
 * The permissions of the controllers as data: their purpose, their place, and the values of the chart that require
 * them. The templates of the roles are generated from them (generate-chart-rbac.ts).
 */

/**
 * The condition under which a rule is needed: `ingress` unless `disable-ingress`, `gatewayApi` unless
 * `disable-gateway-api`, `vips` if Gateways of the shared proxies have Services, `dedicated` if Gateways can have
 * dedicated proxies, `adminAuth` with `adminAuth.controllers`, `namespaced` if `watch-namespace` is set,
 * `ingressNginx` if `ingress-nginx-classes` is not empty.
 */
export type Need =
  "always" | "ingress" | "gatewayApi" | "vips" | "dedicated" | "adminAuth" | "namespaced" | "ingressNginx";

/**
 * The namespaces to which a rule applies: `cluster` for objects without a namespace; `read` for every namespace that
 * is read, `served` for those with served objects, both everywhere unless `watch-namespace` is set; `own` for the
 * install namespace.
 */
export type Place = "cluster" | "read" | "served" | "own";

export type Rule = {
  readonly place: Place;
  readonly need: Need;
  /** The comment on the rule in the template. */
  readonly why: string;
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly names?: readonly string[];
};

const gatewayGroup = "gateway.networking.k8s.io";
const ownGroup = "gateway.svc-labs.dev";
const parametersGroup = "ingress.svc-labs.dev";

/** Namespaced kinds of the Gateway API for which this project writes a status. */
const gatewayKinds = [
  "backendtlspolicies",
  "gateways",
  "grpcroutes",
  "httproutes",
  "listenersets",
  "tcproutes",
  "tlsroutes",
  "udproutes",
] as const;

const ownKinds = [
  "basicauths",
  "clienttrafficpolicies",
  "compressions",
  "ipaccesscontrols",
  "jwtauths",
  "pathrewriteregexes",
  "ratelimits",
  "requestsizelimits",
  "retrypolicies",
  "routeoptions",
  "svcbackendpolicies",
  "svcexternalauths",
  "svcgatewayparameters",
] as const;

const follow = ["list", "watch"] as const;
/** Objects that are not in the cache are read individually. */
const read = ["get", ...follow] as const;
const make = ["create", "delete", "get", "list", "patch", "watch"] as const;
const statuses = (resources: readonly string[]): readonly string[] => resources.map((one) => `${one}/status`);

/** All rules. `caSecret` is the name of the Secret with the authority of the discovery channel. */
export const rulesOf = (caSecret: string): readonly Rule[] => [
  {
    place: "cluster",
    need: "always",
    why: "Labels of namespaces, by which listeners select routes.",
    group: "",
    resources: ["namespaces"],
    verbs: follow,
  },
  {
    place: "cluster",
    need: "always",
    why: "Cluster trust bundles.",
    group: "certificates.k8s.io",
    resources: ["clustertrustbundles"],
    verbs: follow,
  },
  {
    place: "cluster",
    need: "ingress",
    why: "Classes.",
    group: "networking.k8s.io",
    resources: ["ingressclasses"],
    verbs: follow,
  },
  {
    place: "cluster",
    need: "gatewayApi",
    why: "GatewayClasses, and the finalizer of those with Gateways.",
    group: gatewayGroup,
    resources: ["gatewayclasses"],
    verbs: ["get", ...follow, "patch"],
  },
  {
    place: "cluster",
    need: "gatewayApi",
    why: "Statuses of GatewayClasses.",
    group: gatewayGroup,
    resources: ["gatewayclasses/status"],
    verbs: ["patch"],
  },
  {
    place: "cluster",
    need: "gatewayApi",
    why: "Addresses of Services of type NodePort.",
    group: "",
    resources: ["nodes"],
    verbs: follow,
  },
  {
    place: "cluster",
    need: "always",
    why: "Token reviews for proxies.",
    group: "authentication.k8s.io",
    resources: ["tokenreviews"],
    verbs: ["create"],
  },
  {
    place: "cluster",
    need: "adminAuth",
    why: "Access reviews for users of the admin pages.",
    group: "authorization.k8s.io",
    resources: ["subjectaccessreviews"],
    verbs: ["create"],
  },
  {
    place: "read",
    need: "always",
    why: "Only TLS Secrets and those with an opt-in label are requested (with --ingress-nginx-classes all of type Opaque), which roles cannot express.",
    group: "",
    resources: ["configmaps", "secrets", "services"],
    verbs: read,
  },
  {
    place: "read",
    need: "always",
    why: "Backends.",
    group: "discovery.k8s.io",
    resources: ["endpointslices"],
    verbs: read,
  },
  {
    place: "read",
    need: "ingress",
    why: "Ingresses.",
    group: "networking.k8s.io",
    resources: ["ingresses"],
    verbs: read,
  },
  {
    place: "read",
    need: "always",
    why: "Ingresses need the same grants for cross-namespace references as routes.",
    group: gatewayGroup,
    resources: ["referencegrants"],
    verbs: read,
  },
  {
    place: "read",
    need: "gatewayApi",
    why: "Gateways, and objects that attach to them.",
    group: gatewayGroup,
    resources: gatewayKinds,
    verbs: read,
  },
  {
    place: "read",
    need: "always",
    why: "Kinds of this gateway.",
    group: ownGroup,
    resources: ownKinds,
    verbs: read,
  },
  {
    place: "read",
    need: "always",
    why: "Defaults of classes.",
    group: parametersGroup,
    resources: ["svcingressclassparameters"],
    verbs: read,
  },
  {
    place: "read",
    need: "ingressNginx",
    why: "Whether an ingress-nginx is running.",
    group: "coordination.k8s.io",
    resources: ["leases"],
    verbs: ["list"],
    names: ["ingress-nginx-leader", "ingress-controller-leader"],
  },
  {
    place: "served",
    need: "ingress",
    why: "Statuses.",
    group: "networking.k8s.io",
    resources: ["ingresses/status"],
    verbs: ["patch"],
  },
  {
    place: "served",
    need: "gatewayApi",
    why: "",
    group: gatewayGroup,
    resources: statuses(gatewayKinds),
    verbs: ["patch"],
  },
  {
    place: "served",
    need: "always",
    why: "",
    group: ownGroup,
    resources: statuses(ownKinds),
    verbs: ["patch"],
  },
  {
    place: "served",
    need: "always",
    why: "",
    group: parametersGroup,
    resources: ["svcingressclassparameters/status"],
    verbs: ["patch"],
  },
  {
    place: "served",
    need: "gatewayApi",
    why: "The finalizer of present and former dedicated Gateways.",
    group: gatewayGroup,
    resources: ["gateways"],
    verbs: ["patch"],
  },
  {
    place: "served",
    need: "always",
    why: "Events.",
    group: "events.k8s.io",
    resources: ["events"],
    verbs: ["create", "get", "patch"],
  },
  {
    place: "served",
    need: "dedicated",
    why: "Objects of dedicated Gateways, and the ServiceAccounts of all others.",
    group: "",
    resources: ["serviceaccounts"],
    verbs: make,
  },
  {
    place: "served",
    need: "dedicated",
    why: "",
    group: "",
    resources: ["services"],
    verbs: ["create", "delete", "get", "patch"],
  },
  { place: "served", need: "dedicated", why: "", group: "apps", resources: ["deployments"], verbs: make },
  {
    place: "served",
    need: "dedicated",
    why: "",
    group: "autoscaling",
    resources: ["horizontalpodautoscalers"],
    verbs: make,
  },
  {
    place: "served",
    need: "dedicated",
    why: "",
    group: "policy",
    resources: ["poddisruptionbudgets"],
    verbs: make,
  },
  {
    place: "served",
    need: "dedicated",
    why: "The trust bundle of dedicated proxies.",
    group: "",
    resources: ["configmaps"],
    verbs: ["create", "delete", "patch"],
    names: ["svc-discovery-trust"],
  },
  {
    place: "served",
    need: "dedicated",
    why: "Pods of dedicated proxies, for the fleet.",
    group: "",
    resources: ["pods"],
    verbs: follow,
  },
  {
    place: "served",
    need: "dedicated",
    why: "Required by admission for owner references with blockOwnerDeletion.",
    group: gatewayGroup,
    resources: ["gateways/finalizers"],
    verbs: ["update"],
  },
  {
    place: "own",
    need: "always",
    why: "Roles cannot restrict the names of created objects.",
    group: "",
    resources: ["configmaps", "secrets"],
    verbs: ["create"],
  },
  {
    place: "own",
    need: "always",
    why: "The certificate authority, and the keys of cookies and session tickets.",
    group: "",
    resources: ["secrets"],
    verbs: ["get", "patch"],
    names: [caSecret, "svc-session-key", "svc-ticket-keys", "svc-fallback-certificate"],
  },
  {
    place: "own",
    need: "always",
    why: "The trust bundle.",
    group: "",
    resources: ["configmaps"],
    verbs: ["get", "patch"],
    names: ["svc-discovery-trust"],
  },
  {
    place: "own",
    need: "always",
    why: "The lease.",
    group: "coordination.k8s.io",
    resources: ["leases"],
    verbs: ["create"],
  },
  {
    place: "own",
    need: "always",
    why: "",
    group: "coordination.k8s.io",
    resources: ["leases"],
    verbs: ["get", "update"],
    names: ["svc-leader-lock"],
  },
  {
    place: "own",
    need: "always",
    why: "The pods of controllers and proxies: for the fleet, and because they must not be backends.",
    group: "",
    resources: ["pods"],
    verbs: ["get", ...follow],
  },
  {
    place: "own",
    need: "namespaced",
    why: "The Events about its own pods.",
    group: "events.k8s.io",
    resources: ["events"],
    verbs: ["create", "get", "patch"],
  },
  {
    place: "own",
    need: "vips",
    why: "The Services of Gateways of the shared proxies.",
    group: "",
    resources: ["services"],
    verbs: ["create", "delete", "get", "patch"],
  },
];
