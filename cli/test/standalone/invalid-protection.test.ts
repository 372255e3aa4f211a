/** Tests that invalid objects close what they should protect, in a process that never saw a valid version of them. */
import { expect } from "chai";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { stringify } from "yaml";
import { startEchoBackend, type EchoBackend } from "../../../scripts/echo/backend.ts";
import { withGateway } from "./gateway.ts";

const own = "gateway.svc-labs.dev/v1alpha1";
const tls = "gateway.networking.k8s.io/v1";

type Case = {
  /** The kind of the invalid object, its fault, and how it is attached. */
  readonly name: string;
  /** The invalid object, as text if it is not valid YAML. */
  readonly broken: object | string;
  /** Filters of the HTTPRoute, annotations of the Ingress. */
  readonly filters?: readonly object[];
  readonly annotations?: Readonly<Record<string, string>>;
  /** True if the path is served nevertheless, because the object does not refer to it. */
  readonly isOpen?: true;
};

/** The placeholder for the namespace of a case. */
const here = "NAMESPACE";

const extension = (kind: string, name = "p"): readonly object[] => [
  { type: "ExtensionRef", extensionRef: { group: "gateway.svc-labs.dev", kind, name } },
];
const annotation = (name: string): NonNullable<Case["annotations"]> => ({
  [`ingress.svc-labs.dev/${name}`]: `${here}/p`,
});

const object = (kind: string, spec: unknown, apiVersion = own): object => ({
  apiVersion,
  kind,
  metadata: { namespace: here, name: "p" },
  spec,
});

const auth = (spec: object): object => object("SvcExternalAuth", spec);
/** The object, with RouteOptions `any` for which the addresses of all clients are enough. */
const besideAll = (broken: object): object => ({
  apiVersion: "v1",
  kind: "List",
  items: [
    broken,
    {
      ...object("IpAccessControl", { allow: ["0.0.0.0/0", "::/0"] }),
      metadata: { namespace: here, name: "all" },
    },
    {
      ...object("RouteOptions", {
        annotations: {
          "ingress.svc-labs.dev/satisfy": "any",
          "ingress.svc-labs.dev/ip-access-control": `${here}/all`,
        },
      }),
      metadata: { namespace: here, name: "any" },
    },
  ],
});
const gw = { name: "gw" };
const web = { group: "", kind: "Service", name: "web" };

const cases: readonly Case[] = [
  { name: "nothing invalid", broken: object("RateLimit", { requests: "many" }), isOpen: true },
  { name: "SvcExternalAuth without a protocol", broken: auth({ targetRefs: [gw] }) },
  {
    name: "SvcExternalAuth in a list",
    broken: { apiVersion: "v1", kind: "List", items: [auth({ targetRefs: [gw] })] },
  },
  { name: "SvcExternalAuth with a string in the place of a reference", broken: auth({ targetRefs: ["gw"] }) },
  {
    name: "SvcExternalAuth with broken references beside a good one",
    broken: auth({ targetRefs: [7, {}, null, { nam: 1 }, gw] }),
  },
  {
    name: "SvcExternalAuth with a misspelt name in its reference",
    broken: auth({ targetRefs: [{ nam: "gw" }] }),
  },
  { name: "SvcExternalAuth with one reference that is no list", broken: auth({ targetRefs: gw }) },
  { name: "SvcExternalAuth with targetRef", broken: auth({ targetRef: gw }) },
  { name: "SvcExternalAuth with references at the wrong level", broken: { ...auth({}), targetRefs: [gw] } },
  {
    name: "SvcExternalAuth that names an HTTPRoute",
    broken: auth({ targetRefs: [{ kind: "HTTPRoute", name: "web" }] }),
  },
  { name: "SvcExternalAuth that names a Service", broken: auth({ targetRefs: [web] }) },
  {
    name: "SvcExternalAuth that names another Gateway",
    broken: auth({ targetRefs: [{ name: "other" }] }),
    isOpen: true,
  },
  {
    name: "SvcExternalAuth of a wrong version",
    broken: { ...auth({ targetRefs: [gw] }), apiVersion: "gateway.svc-labs.dev/v1" },
  },
  {
    name: "SvcExternalAuth of a misspelt group",
    broken: { ...auth({ targetRefs: [gw] }), apiVersion: "gateway.svc-lab.dev/v1alpha1" },
  },
  {
    name: "SvcExternalAuth of another group of the gateway's",
    broken: { ...auth({ targetRefs: [gw] }), apiVersion: "ingress.svc-labs.dev/v1alpha1" },
  },
  {
    name: "SvcExternalAuth of the gateway's domain as a group",
    broken: { ...auth({ targetRefs: [gw] }), apiVersion: "svc-labs.dev/v1alpha1" },
  },
  {
    name: "SvcExternalAuth without apiVersion",
    broken: { ...auth({ targetRefs: [gw] }), apiVersion: undefined },
  },
  {
    name: "SvcExternalAuth of a misspelt kind",
    broken: { ...auth({ targetRefs: [gw] }), kind: "SvcExternalAuths" },
  },
  {
    name: "SvcExternalAuth without a name",
    broken: { ...auth({ targetRefs: [gw] }), metadata: { namespace: here, nam: "p" } },
  },
  {
    name: "SvcExternalAuth of somebody else's group",
    broken: { ...auth({ targetRefs: [gw] }), apiVersion: "example.com/v1" },
    isOpen: true,
  },
  {
    name: "SvcExternalAuth with a key that stands twice",
    broken: `apiVersion: ${own}\nkind: SvcExternalAuth\nmetadata: {namespace: ${here}, name: p}\nspec:\n  protocol: HTTP\n  protocol: HTTP\n  backendRef: {name: web, port: 80}\n  targetRefs: [{name: gw}]\n`,
  },
  {
    name: "SvcExternalAuth with references that are overwritten",
    broken: `apiVersion: ${own}\nkind: SvcExternalAuth\nmetadata: {namespace: ${here}, name: p}\nspec:\n  targetRefs: [{name: gw}]\n  targetRefs: [{name: other}]\n`,
  },
  {
    name: "SvcExternalAuth with an indentation that is wrong",
    broken: `apiVersion: ${own}\nkind: SvcExternalAuth\nmetadata: {namespace: ${here}, name: p}\nspec:\n  targetRefs:\n  - name: gw\n  protocol: HTTP\n   backendRef: {name: web, port: 80}\n`,
  },
  { name: "SvcExternalAuth by ExtensionRef", broken: auth({}), filters: extension("SvcExternalAuth") },
  { name: "SvcExternalAuth by annotation", broken: auth({}), annotations: annotation("ext-auth") },
  {
    name: "JwtAuth by ExtensionRef",
    broken: object("JwtAuth", { issuer: 7 }),
    filters: extension("JwtAuth"),
  },
  { name: "JwtAuth by annotation", broken: object("JwtAuth", {}), annotations: annotation("auth-jwt") },
  {
    name: "JwtAuth by ExtensionRef beside addresses that are enough",
    broken: besideAll(object("JwtAuth", { issuer: 7 })),
    filters: [...extension("RouteOptions", "any"), ...extension("JwtAuth")],
  },
  {
    name: "JwtAuth by annotation beside addresses that are enough",
    broken: besideAll(object("JwtAuth", {})),
    annotations: {
      ...annotation("auth-jwt"),
      "ingress.svc-labs.dev/satisfy": "any",
      "ingress.svc-labs.dev/ip-access-control": `${here}/all`,
    },
  },
  {
    name: "SvcExternalAuth by ExtensionRef beside addresses that are enough",
    broken: besideAll(auth({})),
    filters: [...extension("RouteOptions", "any"), ...extension("SvcExternalAuth")],
  },
  {
    name: "BasicAuth by ExtensionRef beside addresses that are enough",
    broken: besideAll(object("BasicAuth", {})),
    filters: [...extension("RouteOptions", "any"), ...extension("BasicAuth")],
  },
  {
    name: "JwtAuth with targetRefs",
    broken: object("JwtAuth", { targetRefs: [{ kind: "Gateway", name: "gw" }] }),
  },
  { name: "BasicAuth by ExtensionRef", broken: object("BasicAuth", {}), filters: extension("BasicAuth") },
  {
    name: "IpAccessControl by ExtensionRef",
    broken: object("IpAccessControl", { allow: "10.0.0.0/8" }),
    filters: extension("IpAccessControl"),
  },
  {
    name: "IpAccessControl by ExtensionRef before RouteOptions with a valid one",
    broken: besideAll(object("IpAccessControl", { allow: 5 })),
    filters: [...extension("IpAccessControl"), ...extension("RouteOptions", "any")],
  },
  {
    name: "IpAccessControl by annotation",
    broken: object("IpAccessControl", { deny: [7] }),
    annotations: annotation("ip-access-control"),
  },
  {
    name: "BackendTLSPolicy without validation",
    broken: object("BackendTLSPolicy", { targetRefs: [web] }, tls),
  },
  {
    name: "BackendTLSPolicy with a reference without group and kind",
    broken: object("BackendTLSPolicy", { targetRefs: [{ name: "web" }] }, tls),
  },
  {
    name: "BackendTLSPolicy of a port",
    broken: object("BackendTLSPolicy", { targetRefs: [{ ...web, sectionName: "main" }] }, tls),
  },
  {
    name: "BackendTLSPolicy of another port",
    broken: object("BackendTLSPolicy", { targetRefs: [{ ...web, sectionName: "side" }] }, tls),
    isOpen: true,
  },
  {
    name: "SvcBackendPolicy with a value out of range",
    broken: object("SvcBackendPolicy", {
      targetRefs: [web],
      loadBalancer: { algorithm: "Guess" },
      circuitBreaker: 7,
    }),
  },
  {
    name: "ClientTrafficPolicy of a Gateway",
    broken: object("ClientTrafficPolicy", { targetRefs: [gw], maxConnections: "many" }),
  },
  {
    name: "ClientTrafficPolicy of a listener",
    broken: object("ClientTrafficPolicy", {
      targetRefs: [{ ...gw, sectionName: "http" }],
      maxConnections: -1,
    }),
  },
];

const document = (value: object | string): string =>
  typeof value === "string" ? value : stringify(JSON.parse(JSON.stringify(value)) as object);

/** A namespace with a Gateway and an Ingress that lead to one Service, and what should protect them. */
const manifestsOf = ({ broken, filters, annotations }: Case, index: number, backend: number): string => {
  const namespace = `n${index}`;
  const metadata = (name: string): object => ({ namespace, name });
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: metadata("web"),
      spec: {
        ports: [
          { name: "main", port: 80 },
          { name: "side", port: 81 },
        ],
      },
    },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { ...metadata("web"), labels: { "kubernetes.io/service-name": "web" } },
      addressType: "IPv4",
      ports: [
        { name: "main", port: backend },
        { name: "side", port: backend },
      ],
      endpoints: [{ addresses: ["127.0.0.1"] }],
    },
    {
      apiVersion: tls,
      kind: "Gateway",
      metadata: metadata("gw"),
      spec: {
        gatewayClassName: "svc",
        listeners: [
          { name: "http", port: 80, protocol: "HTTP", hostname: `${namespace}.gateway.example.com` },
        ],
      },
    },
    {
      apiVersion: tls,
      kind: "HTTPRoute",
      metadata: metadata("web"),
      spec: {
        parentRefs: [{ name: "gw" }],
        rules: [{ ...(filters && { filters }), backendRefs: [{ name: "web", port: 80 }] }],
      },
    },
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { ...metadata("web"), ...(annotations && { annotations }) },
      spec: {
        ingressClassName: "svc",
        rules: [
          {
            host: `${namespace}.ingress.example.com`,
            http: {
              paths: [
                {
                  path: "/",
                  pathType: "Prefix",
                  backend: { service: { name: "web", port: { number: 80 } } },
                },
              ],
            },
          },
        ],
      },
    },
    broken,
  ]
    .map(document)
    .join("---\n")
    .replaceAll(here, namespace);
};

const classes = [
  {
    apiVersion: tls,
    kind: "GatewayClass",
    metadata: { name: "svc" },
    spec: { controllerName: "svc-labs.dev/gateway-controller" },
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name: "svc" },
    spec: { controller: "svc-labs.dev/gateway-controller" },
  },
];

const statusOf = async (port: number, host: string): Promise<number> => {
  const [response] = (await once(get({ port, host: "127.0.0.1", headers: { Host: host } }), "response")) as [
    IncomingMessage,
  ];
  response.resume();
  return response.statusCode ?? 0;
};

describe("serve standalone with invalid protection", () => {
  let backend: EchoBackend;
  before(async () => {
    backend = await startEchoBackend({ name: "web" });
  });
  after(() => backend.close());

  it("everything that an invalid protecting object names is answered 503, and all else is served", async () => {
    const manifests = Object.fromEntries(
      cases.map((one, index) => [`n${index}.yaml`, manifestsOf(one, index, backend.port)]),
    );
    manifests["classes.yaml"] = classes.map(document).join("---\n");
    const answers: Record<string, readonly number[]> = {};
    const expected: Record<string, readonly number[]> = {};
    await withGateway({ manifests }, async ({ httpPort }) => {
      for (const [index, { name, isOpen, filters, annotations, broken }] of cases.entries()) {
        const text = document(broken);
        const closesService = /kind: Service\b|BackendTLSPolicy/.test(text);
        const gateway = await statusOf(httpPort, `n${index}.gateway.example.com`);
        const ingress = await statusOf(httpPort, `n${index}.ingress.example.com`);
        answers[name] = [gateway, ingress];
        const isByIngress = annotations !== undefined;
        const isByRoute = filters !== undefined;
        expected[name] =
          isOpen === true
            ? [200, 200]
            : [isByIngress ? 200 : 503, isByIngress || (closesService && !isByRoute) ? 503 : 200];
      }
    });
    expect(answers).to.deep.equal(expected);
  });
});
