import { once } from "node:events";
import { request, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { expect } from "chai";
import { startEchoBackend, type EchoBackend } from "../../../scripts/echo/backend.ts";
import { ingressManifest, listOf, serviceManifests, withGateway } from "./gateway.ts";

const api = "gateway.networking.k8s.io/v1";

const rule = (path: string, cors: object): object => ({
  matches: [{ path: { type: "PathPrefix", value: path } }],
  filters: [{ type: "CORS", cors }],
  backendRefs: [{ name: "web", port: 80 }],
});

const manifests = [
  {
    apiVersion: api,
    kind: "GatewayClass",
    metadata: { name: "svc" },
    spec: { controllerName: "svc-labs.dev/gateway-controller" },
  },
  {
    apiVersion: api,
    kind: "Gateway",
    metadata: { name: "edge" },
    spec: { gatewayClassName: "svc", listeners: [{ name: "http", port: 80, protocol: "HTTP" }] },
  },
  {
    apiVersion: api,
    kind: "HTTPRoute",
    metadata: { name: "web" },
    spec: {
      parentRefs: [{ name: "edge" }],
      hostnames: ["web.example.com"],
      rules: [
        rule("/ports", { allowOrigins: ["https://shop.example:443", "http://*.partner.example:8080"] }),
        rule("/hosts", { allowOrigins: ["https://*"] }),
        rule("/all", { allowOrigins: ["*"], allowCredentials: true, exposeHeaders: ["*"] }),
      ],
    },
  },
];

describe("CORS of an HTTPRoute, standalone", () => {
  let web: EchoBackend;
  before(async () => {
    web = await startEchoBackend({ name: "web" });
  });
  after(() => web.close());

  it("origins are compared with their default ports, and exposed headers are listed by name", async () => {
    const files = { "all.json": listOf(...serviceManifests("web", [web.port]), ...manifests) };
    await withGateway({ manifests: files }, async ({ httpPort }) => {
      const ask = async (path: string, origin: string, method = "GET"): Promise<IncomingHttpHeaders> => {
        const headers = { host: "web.example.com", origin, "access-control-request-method": "GET" };
        const sent = request({ host: "127.0.0.1", port: httpPort, path, method, headers });
        sent.end();
        const [response] = (await once(sent, "response")) as [IncomingMessage];
        response.resume();
        return response.headers;
      };
      const allowed = async (path: string, origin: string): Promise<boolean> => {
        const answers = [await ask(path, origin), await ask(path, origin, "OPTIONS")];
        const origins = answers.map((headers) => headers["access-control-allow-origin"]);
        expect(origins[0], "a preflight and the request after it get the same answer").to.equal(origins[1]);
        return origins[0] === origin;
      };
      expect(await allowed("/ports", "https://shop.example")).to.equal(true);
      expect(await allowed("/ports", "https://shop.example:8443")).to.equal(false);
      expect(await allowed("/ports", "http://a.partner.example:8080")).to.equal(true);
      expect(await allowed("/ports", "http://a.partner.example")).to.equal(false);
      expect(await allowed("/hosts", "https://any.example")).to.equal(true);
      expect(await allowed("/hosts", "https://any.example:444")).to.equal(false);
      const exposed = (await ask("/all", "https://any.example"))["access-control-expose-headers"] ?? "";
      expect(exposed.toLowerCase().split(", ")).to.include("vary").and.not.include("*");
    });
  });
});

describe("CORS of an Ingress, standalone", () => {
  let web: EchoBackend;
  before(async () => {
    web = await startEchoBackend({ name: "web" });
  });
  after(() => web.close());

  const page = "https://app.example";

  /** Access-Control-* of the response, and its status. */
  const grantsOf = ({ statusCode, headers }: IncomingMessage): object => ({
    status: statusCode,
    ...Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("access-control-"))),
  });

  it("annotations of an Ingress answer preflights before a password is asked for, and grant nothing to other origins", async () => {
    const prefix = "ingress.svc-labs.dev/";
    const annotations = {
      [`${prefix}cors-allow-origins`]: `${page}, https://*.partner.example`,
      [`${prefix}cors-allow-methods`]: "GET, PUT",
      [`${prefix}cors-allow-headers`]: "X-A",
      [`${prefix}cors-allow-credentials`]: "true",
      [`${prefix}cors-expose-headers`]: "X-Total",
      [`${prefix}cors-max-age`]: "1m",
    };
    const paths = [{ path: "/", service: "web" }];
    const closed = { ...annotations, [`${prefix}auth-basic-secret`]: "default/missing" };
    const files = {
      "all.json": listOf(
        ...serviceManifests("web", [web.port]),
        ingressManifest("open", "open.example.com", paths, { annotations }),
        ingressManifest("closed", "closed.example.com", paths, { annotations: closed }),
      ),
    };
    await withGateway({ manifests: files }, async ({ httpPort }) => {
      const ask = async (host: string, method: string, origin: string): Promise<object> => {
        const asked = method === "OPTIONS" ? { "access-control-request-method": "PUT" } : {};
        const headers = { host, origin, ...asked };
        const sent = request({ host: "127.0.0.1", port: httpPort, path: "/", method, headers });
        sent.end();
        const [response] = (await once(sent, "response")) as [IncomingMessage];
        response.resume();
        return grantsOf(response);
      };
      const granted = (origin: string): object => ({
        "access-control-allow-origin": origin,
        "access-control-allow-credentials": "true",
        "access-control-expose-headers": "X-Total",
      });
      const preflight = {
        status: 204,
        "access-control-allow-methods": "GET, PUT",
        "access-control-allow-headers": "X-A",
        "access-control-max-age": "60",
      };
      for (const host of ["open.example.com", "closed.example.com"]) {
        const status = host === "open.example.com" ? 200 : 503;
        for (const origin of [page, "https://a.partner.example"]) {
          expect(await ask(host, "OPTIONS", origin)).to.deep.equal({ ...preflight, ...granted(origin) });
          expect(await ask(host, "GET", origin)).to.deep.equal({ status, ...granted(origin) });
        }
        for (const origin of [`${page}:8443`, "https://partner.example", "null"]) {
          expect(await ask(host, "OPTIONS", origin)).to.deep.equal({ status: 204 });
          expect(await ask(host, "GET", origin)).to.deep.equal({ status });
        }
      }
    });
  });
});
