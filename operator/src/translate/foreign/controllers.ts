/** The annotation prefixes of other Ingress controllers. See docs/foreign-annotations.md. */

/** Another Ingress controller, by the name that authors of manifests use. */
export type ForeignController = {
  readonly name: string;
  /** The part of a key before its slash. A `*` at the beginning means any subdomain, or none. */
  readonly prefixes: readonly string[];
  /** Names under these prefixes that the controller writes itself, as a status. */
  readonly written?: ReadonlySet<string>;
};

export const ingressNginx: ForeignController = {
  name: "ingress-nginx",
  prefixes: ["nginx.ingress.kubernetes.io"],
};

const controllers: readonly ForeignController[] = [
  ingressNginx,
  { name: "the NGINX Ingress Controller of F5", prefixes: ["*.nginx.org", "*.nginx.com", "*.f5.com"] },
  { name: "Traefik", prefixes: ["traefik.ingress.kubernetes.io", "*.traefik.io", "*.traefik.containo.us"] },
  {
    name: "HAProxy",
    prefixes: [
      "*.haproxy.org",
      "*.haproxy.com",
      "haproxy-ingress.github.io",
      "haproxy.router.openshift.io",
      "haproxy.ingress.kubernetes.io",
    ],
  },
  { name: "the AWS Load Balancer Controller", prefixes: ["alb.ingress.kubernetes.io"] },
  { name: "Kong", prefixes: ["*.konghq.com"] },
  {
    name: "GKE",
    prefixes: ["*.networking.gke.io", "cloud.google.com"],
    written: new Set(["neg-status"]),
  },
  {
    name: "the Azure Application Gateway",
    prefixes: ["appgw.ingress.kubernetes.io", "alb.networking.azure.io"],
  },
  { name: "Contour", prefixes: ["*.projectcontour.io", "contour.heptio.com"] },
  { name: "Emissary", prefixes: ["*.getambassador.io"] },
  { name: "Apache APISIX", prefixes: ["k8s.apisix.apache.org"] },
  { name: "Higress", prefixes: ["higress.io", "mse.ingress.kubernetes.io"] },
  { name: "Skipper", prefixes: ["zalando.org"] },
  { name: "Cilium", prefixes: ["ingress.cilium.io"] },
  { name: "Pomerium", prefixes: ["ingress.pomerium.io"] },
  { name: "Voyager", prefixes: ["ingress.appscode.com"] },
  { name: "NetScaler", prefixes: ["ingress.citrix.com"] },
  { name: "IBM Cloud", prefixes: ["ingress.bluemix.net"] },
  { name: "Tyk", prefixes: ["tyk.io", "bool.service.tyk.io", "string.service.tyk.io"] },
  { name: "OpenShift routes", prefixes: ["route.openshift.io"] },
  {
    name: "another Ingress controller",
    prefixes: ["ingress.kubernetes.io"],
    // GKE reports here the resources that it has created for an Ingress.
    written: new Set([
      "backends",
      "forwarding-rule",
      "https-forwarding-rule",
      "https-target-proxy",
      "redirect-url-map",
      "ssl-cert",
      "static-ip",
      "target-proxy",
      "url-map",
    ]),
  },
];

const exact: ReadonlyMap<string, ForeignController> = new Map(
  controllers.flatMap((controller) =>
    controller.prefixes.map((prefix): [string, ForeignController] => [
      prefix.replace(/^\*\./, ""),
      controller,
    ]),
  ),
);

const families: readonly (readonly [suffix: string, controller: ForeignController])[] = controllers.flatMap(
  (controller) =>
    controller.prefixes
      .filter((prefix) => prefix.startsWith("*."))
      .map((prefix) => [prefix.slice(1), controller] as const),
);

/** The controller whose annotations have this prefix (without the slash); undefined for an unknown prefix. */
export const controllerOfPrefix = (prefix: string): ForeignController | undefined =>
  exact.get(prefix) ?? families.find(([suffix]) => prefix.endsWith(suffix))?.[1];
