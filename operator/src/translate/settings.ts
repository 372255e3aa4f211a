import type { NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { JsonObject } from "./gateway/dedicated/json.ts";
import type { ServicePortRef } from "./backends/service-port-ref.ts";

/** The ports of the machine that listeners share with each other and with the rest of the process. */
export type MachinePorts = {
  /** Where connections for a listener port are accepted, where that is another port; 0: at one that is free. */
  readonly map: readonly { readonly listenerPort: number; readonly localPort: number }[];
  /** TCP ports that the process uses itself, and the flags that say so. */
  readonly taken: readonly { readonly port: number; readonly flag: string }[];
};

/** How Ingresses of ingress-nginx are read. See docs/ingress-nginx.md. */
export type IngressNginxSettings = {
  /** Classes whose Ingresses are read as ingress-nginx reads them, whichever controller they name. */
  readonly classes: readonly string[];
  /** Whether Ingresses without a class are read so as well. */
  readonly watchWithoutClass: boolean;
  /** The prefix of its annotations, without the slash. */
  readonly annotationsPrefix: string;
  /** The ConfigMap with its settings. */
  readonly configMap: NamespacedName | undefined;
  /** Whether the status of Ingresses of adopted classes is written. */
  readonly updateStatus: boolean;
  /** Whether unknown server names are shown a self-signed certificate. */
  readonly fallbackCertificate: boolean;
  /** Whether `ssl-passthrough` passes TLS on unopened. */
  readonly sslPassthrough: boolean;
  /** Whether `auth-url` and `mirror-target` may name hosts that this gateway does not serve. */
  readonly externalAuth: boolean;
  /** Services that these may name from every namespace. */
  readonly sharedServices: readonly NamespacedName[];
  /** Whether rules without a host, and default backends without rules, are refused. */
  readonly disableCatchAll: boolean;
  /** Whether backends with TLS that would not be verified are answered 502. */
  readonly requireBackendVerification: boolean;
};

/**
 * The decisions of the operator about translation. Pass the same object again while nothing in it changes: results
 * are remembered by its identity.
 */
export type TranslateSettings = {
  /** IngressClasses with this `spec.controller` are ours. */
  readonly controllerName: string;
  /** Serve only the Ingresses of this class; undefined: of every class of ours. */
  readonly ingressClass: string | undefined;
  readonly ingressNginx: IngressNginxSettings;
  /** Serve only routes, Gateways and policies of these namespaces; an empty list: of all namespaces. */
  readonly watchNamespaces: readonly string[];
  /** False leaves every Ingress alone: no listener, no route, no certificate comes from one. */
  readonly ingressEnabled: boolean;
  /** False leaves the objects of the Gateway API alone. */
  readonly gatewayApiEnabled: boolean;
  /**
   * The Services that give each Gateway of the shared proxies an address of its own, and that say which ports proxies bind
   * for it; undefined: proxies bind the ports that the listeners say.
   */
  readonly gatewayVips: VipSettings | undefined;
  /** The settings of dedicated proxies; undefined: all Gateways are served alike, as in a folder of manifests. */
  readonly dedicated: DedicatedSettings | undefined;
  /** Where one process accepts connections for everybody; undefined: proxies have machines of their own. */
  readonly machinePorts: MachinePorts | undefined;
  /** Whether Gateways that ask for proxies of their own are refused where there are none. */
  readonly refusesDedicated: boolean;
  /** Ports that serve Ingresses, without and with TLS; 0: none. */
  readonly ingressHttpPort: number;
  readonly ingressHttpsPort: number;
  /** The ports that clients see for them, used in `Location` and `X-Forwarded-Port`. */
  readonly ingressHttpPublicPort: number;
  readonly ingressHttpsPublicPort: number;
  /** Answers what no Ingress matches. */
  readonly ingressDefaultBackend: (NamespacedName & { readonly port: ServicePortRef }) | undefined;
  /** Secret with the certificate for server names that no Ingress covers. */
  readonly defaultTlsSecret: NamespacedName | undefined;
  /** Where the gateway is installed, with the Secrets of its own. */
  readonly installNamespace: string;
  /** Whether Services of type ExternalName and EndpointSlices of host names may be backends. */
  readonly allowExternalName: boolean;
  /**
   * Ports of the gateway's processes, to which no endpoint may lead by an address that never leaves a host, such as
   * loopback.
   */
  readonly localPorts: readonly number[];
  /** Under a BackendTLSPolicy without a usable name no connections are made; false: they are not encrypted. */
  readonly backendTlsStrict: boolean;
  /** Whether a class is closed whose parameters cannot be used; false: it is served without defaults. */
  readonly classParametersStrict: boolean;
  /** `namespace`: a host belongs to the namespace of its oldest Ingress or route. See docs/routing.md, "Who owns a host". */
  readonly hostOwnership: "off" | "namespace";
  /** Whether the cluster serves ClusterTrustBundles; false: references to one are of a kind that there is not. */
  readonly trustBundles: boolean;
  /**
   * The most bytes for the routes of all objects in the snapshot of one scope; beyond it the largest ones are left
   * out.
   */
  readonly maxScopeBytes: number;
  /** The most bytes for the endpoints of one Service at all of its ports together; beyond it none of them is used. */
  readonly maxServiceEndpointBytes: number;
  /** The most bytes for the endpoints of all Services; beyond it those of the largest Services are left out. */
  readonly maxEndpointBytes: number;
  /**
   * The most bytes for the fetched key sets of all JwtAuths, each with a copy; beyond it the largest are left out.
   */
  readonly maxKeySetBytes: number;
};

/** The default settings, see docs/reference/flags.md. */
export const defaultTranslateSettings: TranslateSettings = {
  controllerName: "svc-labs.dev/gateway-controller",
  ingressClass: undefined,
  ingressNginx: {
    classes: [],
    watchWithoutClass: false,
    annotationsPrefix: "nginx.ingress.kubernetes.io",
    configMap: undefined,
    updateStatus: false,
    fallbackCertificate: false,
    sslPassthrough: false,
    externalAuth: false,
    sharedServices: [],
    disableCatchAll: false,
    requireBackendVerification: false,
  },
  watchNamespaces: [],
  ingressEnabled: true,
  gatewayApiEnabled: true,
  gatewayVips: undefined,
  machinePorts: undefined,
  dedicated: undefined,
  refusesDedicated: false,
  ingressHttpPort: 80,
  ingressHttpsPort: 443,
  ingressHttpPublicPort: 80,
  ingressHttpsPublicPort: 443,
  ingressDefaultBackend: undefined,
  defaultTlsSecret: undefined,
  installNamespace: "svc-system",
  allowExternalName: false,
  localPorts: [8081, 8082],
  backendTlsStrict: false,
  classParametersStrict: false,
  hostOwnership: "off",
  trustBundles: true,
  maxScopeBytes: 192 * 1024 * 1024,
  maxServiceEndpointBytes: 4 * 1024 * 1024,
  maxEndpointBytes: 16 * 1024 * 1024,
  maxKeySetBytes: 8 * 1024 * 1024,
};

/** The decisions of the operator about these Services. */
export type VipSettings = {
  readonly namespace: string;
  /** Labels of the pods of the shared proxies. */
  readonly selector: Readonly<Record<string, string>>;
  readonly serviceType: "LoadBalancer" | "ClusterIP";
};

/** The decisions of the operator about Gateways with dedicated proxies. */
export type DedicatedSettings = {
  /** The image of proxies whose parameters name none; undefined: they must. */
  readonly image: string | undefined;
  /** What is merged into the pod template of all of them, before the templates of their parameters. */
  readonly podTemplate: JsonObject;
  /** Where the proxies find the controller, as `host:port`. */
  readonly discoveryEndpoint: string;
  readonly bootstrapEndpoint: string;
  /** SPIFFE trust domain of the discovery channel. */
  readonly trustDomain: string;
};
