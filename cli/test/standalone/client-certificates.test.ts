import { once } from "node:events";
import { request as requestPlain, type IncomingMessage } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { request } from "node:https";
import { connect } from "node:tls";
import { expect } from "chai";
import { issueCertificate, type Issued } from "../../../proxy/test/tls/certificates.ts";
import { startEchoBackend, type EchoBackend } from "../../../scripts/echo/backend.ts";
import { listOf, serviceManifests, withGateway, type Gateway } from "./gateway.ts";

const authority = issueCertificate(["clients"], { ca: true });
const foreignAuthority = issueCertificate(["others"], { ca: true });
const alice = issueCertificate(["alice"], { issuer: authority });
const mallory = issueCertificate(["mallory"], { issuer: foreignAuthority });

/** The server certificate of anybody for any of the names. */
const server = issueCertificate(["m.example.com", "*.example.com", "x.example.com", "a.b.example.com"]);

type Manifest = object & { readonly metadata: { readonly name: string; readonly namespace?: string } };

const within = (namespace: string, manifests: readonly object[]): readonly Manifest[] =>
  (manifests as readonly Manifest[]).map((one) => ({ ...one, metadata: { ...one.metadata, namespace } }));

const tlsSecret = (namespace: string, name: string): Manifest => ({
  ...{ apiVersion: "v1", kind: "Secret", type: "kubernetes.io/tls" },
  metadata: { name, namespace },
  ...{ stringData: { "tls.crt": server.chainPem, "tls.key": server.keyPem } },
});

const clientAuthorities = (namespace: string, { leafPem }: Issued): Manifest => ({
  ...{ apiVersion: "v1", kind: "Secret", type: "Opaque" },
  metadata: { name: "clients", namespace, ...{ labels: { "ingress.svc-labs.dev/auth-tls": "true" } } },
  ...{ stringData: { "ca.crt": leafPem } },
});

type IngressOptions = {
  /** The younger, the later. */
  readonly month: number;
  readonly rules: readonly (readonly [host: string, path: string])[];
  readonly tls?: readonly { readonly hosts: readonly string[]; readonly secretName: string }[];
  readonly asks?: boolean;
};

const ingress = (
  namespace: string,
  name: string,
  { month, rules, tls = [], asks }: IngressOptions,
): Manifest => ({
  ...{ apiVersion: "networking.k8s.io/v1", kind: "Ingress" },
  metadata: {
    name,
    namespace,
    ...{
      creationTimestamp: `2025-${String(month).padStart(2, "0")}-01T00:00:00Z`,
      annotations:
        asks === true
          ? {
              "ingress.svc-labs.dev/auth-tls-secret": `${namespace}/clients`,
              "ingress.svc-labs.dev/auth-tls-verify-depth": "1",
            }
          : {},
    },
  },
  ...{
    spec: {
      ingressClassName: "svc",
      tls,
      rules: rules.map(([host, path]) => ({
        host,
        http: {
          paths: [
            { path, pathType: "Prefix", backend: { service: { name: "web", port: { name: "main" } } } },
          ],
        },
      })),
    },
  },
});

type Asked = {
  readonly sni: string;
  readonly host?: string;
  readonly path?: string;
  readonly identity?: Issued;
};

/** The status, or `refused` where the handshake or what follows it ends without one. */
const ask = (
  { httpsPort }: Gateway,
  { sni, host = sni, path = "/", identity }: Asked,
): Promise<number | "refused"> =>
  new Promise((resolve) => {
    const sent = request(
      {
        host: "127.0.0.1",
        port: httpsPort,
        servername: sni,
        rejectUnauthorized: false,
        agent: false,
        path,
        headers: { host },
        ...(identity && { cert: identity.chainPem, key: identity.keyPem }),
      },
      (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode ?? 0));
      },
    );
    sent.on("error", () => resolve("refused"));
    sent.end();
  });

const askPlain = async ({ httpPort }: Gateway, host: string): Promise<number> => {
  const sent = requestPlain({ host: "127.0.0.1", port: httpPort, headers: { host } });
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode ?? 0;
};

describe("client certificates of a host, standalone", () => {
  let backend: EchoBackend;
  before(async () => (backend = await startEchoBackend({ name: "web" })));
  after(() => backend.close());

  const having = (
    manifests: readonly object[],
  ): { readonly manifests: Readonly<Record<string, string>> } => ({
    manifests: {
      "all.json": listOf(
        ...["shop", "blog"].flatMap((namespace) =>
          within(namespace, serviceManifests("web", [backend.port])),
        ),
        clientAuthorities("shop", authority),
        clientAuthorities("blog", foreignAuthority),
        ...manifests,
      ),
    },
  });
  const strict = (month: number, secretName = "cert", host = "m.example.com"): Manifest =>
    ingress("shop", "strict", {
      ...{ month, asks: true, rules: [[host, "/"]] },
      tls: [{ hosts: [host], secretName }],
    });

  it("a host keeps its client validation while its server certificate is missing and another namespace offers one", async () => {
    const other = ingress("blog", "other", {
      ...{ month: 9, rules: [["m.example.com", "/blog"]] },
      tls: [{ hosts: ["m.example.com"], secretName: "cert" }],
    });
    const objects = [strict(1, "missing"), other, tlsSecret("blog", "cert")];
    await withGateway(having(objects), async (gateway) => {
      expect(await ask(gateway, { sni: "m.example.com" })).to.equal("refused");
      expect(await ask(gateway, { sni: "m.example.com", path: "/blog" })).to.equal("refused");
      expect(await ask(gateway, { sni: "m.example.com", identity: mallory })).to.equal("refused");
      expect(await ask(gateway, { sni: "m.example.com", identity: alice })).to.equal(200);
    });
  });

  it("a route with client validation answers 421 when an older Ingress of another namespace owns the host's TLS", async () => {
    for (const asks of [false, true]) {
      const other = ingress("blog", "other", {
        ...{ month: 1, asks, rules: [["m.example.com", "/blog"]] },
        tls: [{ hosts: ["m.example.com"], secretName: "cert" }],
      });
      const beside = ingress("shop", "beside", { month: 10, rules: [["m.example.com", "/beside"]] });
      const objects = [strict(9), beside, other, tlsSecret("shop", "cert"), tlsSecret("blog", "cert")];
      await withGateway(having(objects), async (gateway) => {
        const identity = asks ? mallory : undefined;
        const asked = { sni: "m.example.com", ...(identity && { identity }) };
        expect(await ask(gateway, { ...asked, path: "/blog" })).to.equal(200);
        expect(await ask(gateway, asked)).to.equal(421);
        expect(await ask(gateway, { ...asked, path: "/beside" }), "relies on its neighbour").to.equal(421);
        expect(await askPlain(gateway, "m.example.com")).to.equal(200);
      });
    }
  });

  it("client validation of a wildcard covers hosts that another namespace lists under spec.tls", async () => {
    const narrower = ingress("blog", "narrower", {
      ...{ month: 9, rules: [["unrelated.example.com", "/"]] },
      tls: [{ hosts: ["x.example.com"], secretName: "cert" }],
    });
    const relying = ingress("shop", "relying", { month: 2, rules: [["y.example.com", "/"]] });
    const stealing = ingress("blog", "stealing", {
      ...{ month: 9, rules: [["other.example.org", "/"]] },
      tls: [{ hosts: ["y.example.com"], secretName: "cert" }],
    });
    const objects = [
      ...[strict(1, "cert", "*.example.com"), narrower, relying, stealing],
      ...[tlsSecret("shop", "cert"), tlsSecret("blog", "cert")],
    ];
    await withGateway(having(objects), async (gateway) => {
      expect(await ask(gateway, { sni: "z.example.com" })).to.equal("refused");
      expect(await ask(gateway, { sni: "z.example.com", identity: alice })).to.equal(200);
      for (const sni of ["x.example.com", "y.example.com"]) {
        expect(await ask(gateway, { sni }), sni).to.equal(421);
        expect(await ask(gateway, { sni, identity: alice }), sni).to.equal(421);
      }
      expect(await ask(gateway, { sni: "x.example.com", host: "z.example.com" })).to.equal(421);
    });
  });

  it("client validation holds under the default certificate, without a server name, and for every host", async () => {
    const everyHost = {
      ...ingress("shop", "every-host", { month: 3, rules: [], asks: true }),
      spec: {
        ingressClassName: "svc",
        tls: [{ secretName: "cert" }],
        defaultBackend: { service: { name: "web", port: { name: "main" } } },
      },
    };
    const objects = [strict(1), everyHost, tlsSecret("shop", "cert"), tlsSecret("infra", "cert")];
    const flags = ["--default-tls-secret", "infra/cert"];
    await withGateway({ ...having(objects), flags }, async (gateway) => {
      expect(await ask(gateway, { sni: "", host: "m.example.com" })).to.equal(421);
      expect(await ask(gateway, { sni: "m.example.com", identity: alice })).to.equal(200);
      expect(await ask(gateway, { sni: "any.example.org" })).to.equal(421);
      expect(await ask(gateway, { sni: "", host: "any.example.org" })).to.equal(421);
    });
  });

  it("an Ingress with client validation answers 503 without hosts under spec.tls, and 421 for hosts not listed there", async () => {
    const objects = [
      ingress("shop", "without", { month: 1, asks: true, rules: [["open.example.com", "/"]] }),
      ingress("blog", "beside", { month: 2, rules: [["open.example.com", "/blog"]] }),
      ingress("shop", "partly", {
        ...{ month: 1, asks: true },
        rules: [
          ["m.example.com", "/"],
          ["unlisted.example.com", "/"],
        ],
        tls: [{ hosts: ["m.example.com"], secretName: "cert" }],
      }),
      ...[tlsSecret("shop", "cert"), tlsSecret("infra", "cert")],
    ];
    const flags = ["--default-tls-secret", "infra/cert"];
    await withGateway({ ...having(objects), flags }, async (gateway) => {
      expect(await ask(gateway, { sni: "open.example.com" })).to.equal(503);
      expect(await askPlain(gateway, "open.example.com")).to.equal(503);
      expect(await ask(gateway, { sni: "open.example.com", path: "/blog" })).to.equal(200);
      expect(await ask(gateway, { sni: "m.example.com", identity: alice })).to.equal(200);
      expect(await ask(gateway, { sni: "unlisted.example.com" })).to.equal(421);
      const verified = { sni: "m.example.com", host: "unlisted.example.com", identity: alice };
      expect(await ask(gateway, verified), "verified by the same rules").to.equal(200);
    });
  });

  it("client validation of a Gateway holds for hosts of two labels, without a server name, and on other connections", async () => {
    const gatewayApi = "gateway.networking.k8s.io/v1";
    const gatewayOf = (
      namespace: string,
      name: string,
      hostname: string | undefined,
      tls: object,
    ): object => ({
      apiVersion: gatewayApi,
      kind: "Gateway",
      metadata: { name, namespace },
      spec: {
        gatewayClassName: "svc",
        ...tls,
        listeners: [
          {
            ...{ name: "https", port: 443, protocol: "HTTPS", tls: { certificateRefs: [{ name: "cert" }] } },
            ...(hostname !== undefined && { hostname }),
          },
        ],
      },
    });
    const route = (namespace: string, name: string, hostnames: readonly string[]): object => ({
      apiVersion: gatewayApi,
      kind: "HTTPRoute",
      metadata: { name, namespace },
      spec: {
        parentRefs: [{ name }],
        ...(hostnames.length > 0 && { hostnames }),
        rules: [{ backendRefs: [{ name: "web", port: 80 }] }],
      },
    });
    const validation = {
      caCertificateRefs: [{ group: "", kind: "ConfigMap", name: "clients" }],
    };
    const objects = [
      {
        apiVersion: gatewayApi,
        kind: "GatewayClass",
        metadata: { name: "svc" },
        spec: { controllerName: "svc-labs.dev/gateway-controller" },
      },
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "clients", namespace: "shop" },
        data: { "ca.crt": authority.leafPem },
      },
      gatewayOf("shop", "strict", "*.example.com", { tls: { frontend: { default: { validation } } } }),
      gatewayOf("blog", "open", undefined, {}),
      route("shop", "strict", []),
      route("blog", "open", []),
      ingress("blog", "listing", {
        ...{ month: 9, rules: [["m.example.org", "/"]] },
        tls: [{ hosts: ["x.example.com"], secretName: "cert" }],
      }),
      ...[tlsSecret("shop", "cert"), tlsSecret("blog", "cert")],
    ];
    await withGateway(having(objects), async (gateway) => {
      expect(await ask(gateway, { sni: "m.example.com" })).to.equal("refused");
      expect(await ask(gateway, { sni: "m.example.com", identity: alice })).to.equal(200);
      expect(await ask(gateway, { sni: "open.example.org" })).to.equal(200);
      for (const asked of [
        { sni: "a.b.example.com" },
        { sni: "a.b.example.com", identity: alice },
        { sni: "", host: "a.b.example.com" },
        { sni: "", host: "m.example.com" },
        { sni: "a.b.example.com", host: "m.example.com" },
        { sni: "open.example.org", host: "m.example.com" },
        { sni: "x.example.com" },
      ]) {
        expect(await ask(gateway, asked), JSON.stringify({ ...asked, identity: undefined })).to.equal(421);
      }
      const session = connectHttp2("https://open.example.org", {
        createConnection: () =>
          connect({
            ...{ host: "127.0.0.1", port: gateway.httpsPort, servername: "open.example.org" },
            ...{ ALPNProtocols: ["h2"], rejectUnauthorized: false },
          }),
      });
      for (const [name, status] of [
        ["open.example.org", 200],
        ["a.b.example.com", 421],
        ["m.example.com", 421],
      ] as const) {
        const stream = session.request({ ":authority": name, ":path": "/" });
        const [headers] = (await once(stream, "response")) as [Readonly<Record<string, unknown>>];
        stream.resume();
        expect(headers[":status"], name).to.equal(status);
      }
      session.destroy();
    });
  });
});
