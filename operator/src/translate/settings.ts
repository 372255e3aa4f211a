import type { NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { JsonObject } from "./gateway/dedicated/json.ts";
import type { ServicePortRef } from "./backends/service-port-ref.ts";

/** The ports of the machine that listeners share with each other and with the rest of the process. */
export type MachinePorts = {
  /** The local ports at which connections for listener ports are accepted, if they differ; 0 for any free port. */
  readonly map: readonly { readonly listenerPort: number; readonly localPort: number }[];
  /** TCP ports that the process itself uses, and the flags that set them. */
  readonly taken: readonly { readonly port: number; readonly flag: string }[];
};

/** The settings of the ingress-nginx dialect. See docs/ingress-nginx.md. */
export type IngressNginxSettings = {
  /** Classes whose Ingresses are read in this dialect, whichever controller they name. */
  readonly classes: readonly string[];
  /** Whether Ingresses without a class are also read in this dialect. */
  readonly watchWithoutClass: boolean;
  /** The prefix of its annotations, without the slash. */
  readonly annotationsPrefix: string;
  /** The ConfigMap with its settings. */
  readonly configMap: NamespacedName | undefined;
  /** Whether the status of Ingresses of adopted classes is written. */
  readonly updateStatus: boolean;
  /** Whether a self-signed certificate is presented for unknown server names. */
  readonly fallbackCertificate: boolean;
  /** Whether `ssl-passthrough` passes TLS through without terminating it. */
  readonly sslPassthrough: boolean;
  /** Whether `auth-url` and `mirror-target` may name hosts that this gateway does not serve. */
  readonly externalAuth: boolean;
  /** Services that these annotations may name from every namespace. */
  readonly sharedServices: readonly NamespacedName[];
  /** Whether rules without a host, and default backends without rules, are refused. */
  readonly disableCatchAll: boolean;
  /** Whether backends with TLS that would not be verified are answered 502. */
  readonly requireBackendVerification: boolean;
};

/**
 * The decisions of the operator about translation. Pass the same object again while nothing in it changes,
 * because results are remembered by its identity.
 */
export type TranslateSettings = {
  /** The `spec.controller` of the IngressClasses to serve. */
  readonly controllerName: string;
  /** The only class to serve; undefined to serve every class of this controller. */
  readonly ingressClass: string | undefined;
  readonly ingressNginx: IngressNginxSettings;
  /** The namespaces whose routes, Gateways and policies are served; empty for all namespaces. */
  readonly watchNamespaces: readonly string[];
  /** Whether Ingresses are served. If false, no listener, route or certificate results from one. */
  readonly ingressEnabled: boolean;
  /** Whether the objects of the Gateway API are served. */
  readonly gatewayApiEnabled: boolean;
  /**
   * The Services that provide each Gateway of the shared proxies with its own address, and that determine the
   * ports that proxies bind for it; undefined if proxies bind the ports of the listeners.
   */
  readonly gatewayVips: VipSettings | undefined;
  /** The settings of dedicated proxies; undefined if all Gateways are served alike, as with a folder of manifests. */
  readonly dedicated: DedicatedSettings | undefined;
  /**
   * The ports of the machine, if one process accepts all connections; undefined if proxies run on separate
   * machines or pods.
   */
  readonly machinePorts: MachinePorts | undefined;
  /** Whether Gateways that request dedicated proxies are refused if these are not available. */
  readonly refusesDedicated: boolean;
  /** Ports that serve Ingresses, without and with TLS; 0 for none. */
  readonly ingressHttpPort: number;
  readonly ingressHttpsPort: number;
  /** The ports that clients use for them, which appear in `Location` and `X-Forwarded-Port`. */
  readonly ingressHttpPublicPort: number;
  readonly ingressHttpsPublicPort: number;
  /** The backend for requests that no Ingress matches. */
  readonly ingressDefaultBackend: (NamespacedName & { readonly port: ServicePortRef }) | undefined;
  /** The Secret with the certificate for server names that no Ingress covers. */
  readonly defaultTlsSecret: NamespacedName | undefined;
  /** The namespace in which the gateway is installed, with its own Secrets. */
  readonly installNamespace: string;
  /** Whether Services of type ExternalName and EndpointSlices of host names may be backends. */
  readonly allowExternalName: boolean;
  /**
   * Ports of the gateway's own processes. No endpoint may have one of them together with an address that never
   * leaves a host, such as loopback.
   */
  readonly localPorts: readonly number[];
  /**
   * Whether no connections are made under a BackendTLSPolicy without a usable name. If false, they are not
   * encrypted.
   */
  readonly backendTlsStrict: boolean;
  /** Whether a class with unusable parameters is closed. If false, it is served without defaults. */
  readonly classParametersStrict: boolean;
  /**
   * The ownership of hosts. With `namespace`, a host belongs to the namespace of its oldest Ingress or route.
   * See docs/routing.md, "Who owns a host".
   */
  readonly hostOwnership: "off" | "namespace";
  /** Whether the cluster serves ClusterTrustBundles. If false, a reference to one names an unknown kind. */
  readonly trustBundles: boolean;
  /**
   * The maximum number of bytes for the routes of all objects in the snapshot of one scope. Beyond it, the
   * largest objects are left out.
   */
  readonly maxScopeBytes: number;
  /**
   * The maximum number of bytes for the endpoints of one Service at all of its ports. Beyond it, none of them
   * is used.
   */
  readonly maxServiceEndpointBytes: number;
  /**
   * The maximum number of bytes for the endpoints of all Services. Beyond it, those of the largest Services are
   * left out.
   */
  readonly maxEndpointBytes: number;
  /**
   * The maximum number of bytes for the fetched key sets of all JwtAuths, each with a copy. Beyond it, the
   * largest are left out.
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

/** The decisions of the operator about Services that provide Gateways of the shared proxies with addresses. */
export type VipSettings = {
  readonly namespace: string;
  /** Labels of the pods of the shared proxies. */
  readonly selector: Readonly<Record<string, string>>;
  readonly serviceType: "LoadBalancer" | "ClusterIP";
};

/** The decisions of the operator about Gateways with dedicated proxies. */
export type DedicatedSettings = {
  /** The image of proxies whose parameters name none; undefined if parameters must name one. */
  readonly image: string | undefined;
  /** The pod template that is merged into that of all dedicated proxies, before the templates of their parameters. */
  readonly podTemplate: JsonObject;
  /** The addresses of the controller for the proxies, as `host:port`. */
  readonly discoveryEndpoint: string;
  readonly bootstrapEndpoint: string;
  /** The SPIFFE trust domain of the discovery channel. */
  readonly trustDomain: string;
};
