import { flag, optionalFlag } from "./flag.ts";
import {
  choiceType,
  cidrsType,
  controllerNameType,
  durationType,
  hostType,
  imageType,
  jsonObjectType,
  listenPortType,
  localPublicPort,
  annotationPrefixType,
  classNamesType,
  namespacedNamesType,
  namespacedNameType,
  namespacesType,
  objectNameType,
  publicPortType,
  selectorType,
  servicePortType,
  switchType,
} from "./flag-types.ts";

const controller = ["controller"] as const;
const translating = ["controller", "standalone"] as const;

const minuteMs = 60_000;

/** Flags of the control plane: the objects that are watched, translated and written. */
export const controlFlags = [
  flag({
    name: "controller-name",
    type: controllerNameType,
    roles: translating,
    defaultValue: "svc-labs.dev/gateway-controller",
    meaning: "Controller name: IngressClasses and GatewayClasses with it are served.",
  }),
  flag({
    name: "watch-namespace",
    type: namespacesType,
    roles: translating,
    defaultValue: [],
    shownDefault: "all",
    meaning:
      "Serve only Ingresses, Gateways, ListenerSets, routes and policies of these namespaces. Objects that they refer to may be in others.",
  }),
  flag({
    name: "read-namespace",
    type: namespacesType,
    roles: controller,
    defaultValue: [],
    shownDefault: "all",
    meaning:
      "Read only objects of these namespaces, of those of `--watch-namespace` and of the controller's own. Objects elsewhere do not exist for the controller, which then needs no rights there.",
  }),
  flag({
    name: "disable-cluster-scope",
    type: switchType,
    roles: controller,
    defaultValue: false,
    meaning:
      "Read and write no object without a namespace: Roles in the namespaces of `--watch-namespace` are enough. `--ingress-class` and `--gateway-class` name the classes (docs/namespaced-installation.md).",
  }),
  optionalFlag({
    name: "ingress-class",
    type: objectNameType,
    roles: translating,
    shownDefault: "all of this controller",
    meaning: "Serve only Ingresses of this class.",
  }),
  optionalFlag({
    name: "ingress-class-parameters",
    type: namespacedNameType,
    roles: controller,
    meaning:
      "With `--disable-cluster-scope`: the SvcIngressClassParameters of that class, in place of its `spec.parameters`.",
  }),
  optionalFlag({
    name: "gateway-class",
    type: objectNameType,
    roles: controller,
    meaning: "With `--disable-cluster-scope`: the class whose Gateways are served.",
  }),
  flag({
    name: "ingress-nginx-classes",
    type: classNamesType,
    roles: translating,
    defaultValue: [],
    shownDefault: "none",
    meaning:
      "IngressClasses whose Ingresses are read as ingress-nginx reads them, with its annotations and defaults. Each is served even if its controller is another one, or it does not exist.",
  }),
  flag({
    name: "ingress-nginx-watch-without-class",
    type: switchType,
    roles: translating,
    defaultValue: false,
    meaning: "Serve Ingresses that name no class, as ingress-nginx reads them.",
  }),
  flag({
    name: "ingress-nginx-annotations-prefix",
    type: annotationPrefixType,
    roles: translating,
    defaultValue: "nginx.ingress.kubernetes.io",
    meaning: "Prefix of ingress-nginx's annotations: its flag `--annotations-prefix`.",
  }),
  optionalFlag({
    name: "ingress-nginx-configmap",
    type: namespacedNameType,
    roles: translating,
    meaning: "ConfigMap with ingress-nginx's settings: its flag `--configmap`.",
  }),
  flag({
    name: "ingress-nginx-update-status",
    type: switchType,
    roles: translating,
    defaultValue: false,
    meaning:
      "Write the status of Ingresses whose class belongs to ingress-nginx. Only when ingress-nginx no longer writes it; DNS records that follow the status then move.",
  }),
  flag({
    name: "ingress-nginx-fallback-certificate",
    type: switchType,
    roles: translating,
    defaultValue: false,
    meaning: "Complete TLS handshakes for unknown server names with a self-signed certificate.",
  }),
  flag({
    name: "ingress-nginx-ssl-passthrough",
    type: switchType,
    roles: translating,
    defaultValue: false,
    meaning: "Honour `ssl-passthrough`: ingress-nginx's flag `--enable-ssl-passthrough`.",
  }),
  flag({
    name: "ingress-nginx-external-auth",
    type: switchType,
    roles: translating,
    defaultValue: false,
    meaning:
      "Allow `auth-url` and `mirror-target` to name hosts that this gateway does not serve. Never loopback, link-local or management addresses.",
  }),
  flag({
    name: "ingress-nginx-shared-services",
    type: namespacedNamesType,
    roles: translating,
    defaultValue: [],
    shownDefault: "none",
    meaning:
      "Services that `auth-url` and `mirror-target` of every namespace may name without a ReferenceGrant.",
  }),
  flag({
    name: "ingress-nginx-disable-catch-all",
    type: switchType,
    roles: translating,
    defaultValue: false,
    meaning:
      "Refuse rules without a host, and default backends of Ingresses without rules, which take the requests for all unknown hosts: ingress-nginx's flag `--disable-catch-all`.",
  }),
  flag({
    name: "ingress-nginx-require-backend-verification",
    type: switchType,
    roles: translating,
    defaultValue: false,
    meaning:
      "Answer 502 where ingress-nginx would connect to a backend by TLS without verifying its certificate.",
  }),
  flag({
    name: "host-ownership",
    type: choiceType(["off", "namespace"]),
    roles: translating,
    defaultValue: "off",
    meaning:
      "`namespace`: a host belongs to the namespace of its oldest Ingress or route; other namespaces cannot add paths to it.",
  }),
  flag({
    name: "allow-external-name",
    type: switchType,
    roles: translating,
    defaultValue: false,
    standaloneDefault: true,
    meaning: "Accept `ExternalName` Services as backends; the proxy resolves their names.",
  }),
  flag({
    name: "backend-tls-strict",
    type: switchType,
    roles: translating,
    defaultValue: false,
    meaning:
      "Answer 502 if none of a BackendTLSPolicy's subjectAltNames is valid, instead of connecting without TLS.",
  }),
  flag({
    name: "class-parameters-strict",
    type: switchType,
    roles: translating,
    defaultValue: false,
    meaning:
      "Answer 503 for Ingresses of a class whose `spec.parameters` are unusable, instead of serving them without its defaults.",
  }),
  flag({
    name: "disable-ingress",
    type: switchType,
    roles: translating,
    defaultValue: false,
    meaning: "Ignore Ingresses.",
  }),
  flag({
    name: "disable-gateway-api",
    type: switchType,
    roles: translating,
    defaultValue: false,
    meaning: "Ignore Gateway API objects.",
  }),
  flag({
    name: "disable-dedicated-gateways",
    type: switchType,
    roles: controller,
    defaultValue: false,
    meaning:
      "Do not create dedicated proxies; Gateways that request them are not accepted. The controller then needs no rights on workloads.",
  }),
  flag({
    name: "ingress-http-port",
    type: listenPortType,
    roles: translating,
    defaultValue: 80,
    meaning: "HTTP port of Ingresses; 0 for none.",
  }),
  flag({
    name: "ingress-https-port",
    type: listenPortType,
    roles: translating,
    defaultValue: 443,
    meaning: "HTTPS port of Ingresses; 0 for none.",
  }),
  flag({
    name: "ingress-http-public-port",
    type: publicPortType,
    roles: translating,
    defaultValue: 80,
    standaloneDefault: localPublicPort,
    meaning:
      "The port that clients see for it, used in `Location` and `X-Forwarded-Port`; `local`: the one that it is accepted on.",
  }),
  flag({
    name: "ingress-https-public-port",
    type: publicPortType,
    roles: translating,
    defaultValue: 443,
    standaloneDefault: localPublicPort,
    meaning:
      "The port that clients see for it, used in `Location` and `X-Forwarded-Port`; `local`: the one that it is accepted on.",
  }),
  optionalFlag({
    name: "ingress-default-backend",
    type: servicePortType,
    roles: translating,
    meaning: "Service for requests that no Ingress matches.",
  }),
  optionalFlag({
    name: "default-tls-secret",
    type: namespacedNameType,
    roles: translating,
    meaning: "TLS Secret for server names that no Ingress covers.",
  }),
  optionalFlag({
    name: "status-address",
    type: hostType,
    roles: translating,
    shownDefault: "the load-balancer address of the shared proxy Service",
    meaning: "External address of the proxies, written to the status of Ingresses.",
  }),
  flag({
    name: "jwks-allow-cidrs",
    type: cidrsType,
    roles: translating,
    defaultValue: [],
    shownDefault: "none",
    meaning: "Non-public addresses from which JWKS may be fetched.",
  }),
  flag({
    name: "reconcile-min-interval",
    type: durationType({ maxMs: minuteMs }),
    roles: translating,
    defaultValue: 20,
    meaning: "Minimum time between the starts of two builds during continuous changes.",
  }),
  flag({
    name: "controller-lease-ttl",
    type: durationType({ minMs: 1000 }),
    roles: controller,
    defaultValue: 15_000,
    meaning: "Lifetime of the leader's lease; at least three times the renew interval.",
  }),
  flag({
    name: "controller-lease-renew-interval",
    type: durationType({ minMs: 100 }),
    roles: controller,
    defaultValue: 5000,
    meaning: "How often the leader renews its lease.",
  }),
  flag({
    name: "shared-proxy-selector",
    type: selectorType,
    roles: controller,
    defaultValue: { "app.kubernetes.io/name": "svc", "app.kubernetes.io/component": "shared-proxy" },
    meaning: "Pods behind the virtual-IP Services of shared Gateways; empty: no such Services are created.",
  }),
  flag({
    name: "shared-proxy-service-account",
    type: objectNameType,
    roles: controller,
    defaultValue: "svc-shared-proxy",
    meaning: "ServiceAccount of the shared proxies, which is their identity.",
  }),
  flag({
    name: "shared-vip-service-type",
    type: choiceType(["LoadBalancer", "ClusterIP"]),
    roles: controller,
    defaultValue: "LoadBalancer",
    meaning: "Type of the virtual-IP Services.",
  }),
  optionalFlag({
    name: "dedicated-image",
    type: imageType,
    roles: controller,
    fallbackVariable: "SVC_IMAGE",
    shownDefault: "the controller's image, from `SVC_IMAGE`",
    meaning: "Image of dedicated proxies.",
  }),
  optionalFlag({
    name: "dedicated-pod-template",
    type: jsonObjectType,
    roles: controller,
    meaning:
      "Partial pod template of all dedicated proxies, under the `podTemplate` of their parameters and with the same limits, except that it may choose `runAsUser`, `runAsGroup` and `fsGroup` of the pod.",
  }),
  flag({
    name: "discovery-port",
    type: listenPortType,
    roles: controller,
    defaultValue: 50051,
    meaning: "Port of the snapshot stream.",
  }),
  flag({
    name: "discovery-bootstrap-port",
    type: listenPortType,
    roles: controller,
    defaultValue: 50052,
    meaning: "Port on which proxies obtain their identity.",
  }),
  flag({
    name: "discovery-service",
    type: objectNameType,
    roles: controller,
    defaultValue: "svc-controller-discovery",
    meaning: "Service through which proxies reach the controller.",
  }),
  flag({
    name: "discovery-ca-mode",
    type: choiceType(["auto", "external"]),
    roles: controller,
    defaultValue: "auto",
    meaning:
      "Create the certificate authority of the discovery channel, or read an existing one from the Secret.",
  }),
  flag({
    name: "discovery-ca-secret",
    type: objectNameType,
    roles: controller,
    defaultValue: "svc-discovery-ca",
    meaning: "Secret that holds the certificate authority of the discovery channel.",
  }),
  flag({
    name: "discovery-svid-ttl",
    type: durationType({ minMs: 10 * minuteMs, maxMs: 7 * 24 * 60 * minuteMs }),
    roles: controller,
    defaultValue: 24 * 60 * minuteMs,
    meaning: "Lifetime of the identity certificates of proxies.",
  }),
] as const;
