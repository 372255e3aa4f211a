import { expect } from "chai";
import { echoed, send, type Reply, type SendOptions } from "../support/client.ts";
import { coversFilters } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { gateway, httpRoute, needGatewayApi, to } from "../support/gateway-api.ts";
import { programmedAddress } from "../support/gateways.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

/** Each kind has a rule, with its name as the path. */
const extensions: readonly { readonly kind: string; readonly spec: object }[] = [
  { kind: "IpAccessControl", spec: { deny: ["0.0.0.0/0", "::/0"] } },
  { kind: "RateLimit", spec: { requestsPerSecond: 0.001 } },
  { kind: "BasicAuth", spec: { secretRef: { name: "users" } } },
  { kind: "JwtAuth", spec: { issuer: "https://id.example.com/", jwks: { inline: { jwks: { keys: [] } } } } },
  { kind: "Compression", spec: { gzip: true, minSize: 0, types: ["application/json"] } },
  { kind: "RequestSizeLimit", spec: { maxSize: 4 } },
  { kind: "PathRewriteRegex", spec: { pattern: "^/PathRewriteRegex/(.*)$", replacement: "/new/$1" } },
  { kind: "RetryPolicy", spec: { attempts: 1, codes: [503] } },
  {
    kind: "RouteOptions",
    spec: { annotations: { "ingress.svc-labs.dev/closed-paths": "/RouteOptions/closed" } },
  },
  {
    kind: "SvcExternalAuth",
    spec: {
      protocol: "HTTP",
      backendRef: { name: "echo", port: 80 },
      allowedResponseHeaders: ["Echo-Backend"],
    },
  },
];
/** The alias of SvcExternalAuth in filters. */
const otherName = "ExternalAuth";

describe("ExtensionRefs of an HTTPRoute", () => {
  const sandbox = useSandbox("extension-refs");
  coversFilters(
    "ExtensionRef to BasicAuth",
    "ExtensionRef to Compression",
    "ExtensionRef to ExternalAuth",
    "ExtensionRef to IpAccessControl",
    "ExtensionRef to JwtAuth",
    "ExtensionRef to PathRewriteRegex",
    "ExtensionRef to RateLimit",
    "ExtensionRef to RequestSizeLimit",
    "ExtensionRef to RetryPolicy",
    "ExtensionRef to RouteOptions",
    "ExtensionRef to SvcExternalAuth",
  );
  const host = "extension-refs.e2e.example";
  const toEcho = { backendRefs: to("echo") };
  const rule = (kind: string, name = "one"): object => ({
    matches: [{ path: { value: `/${kind}` } }],
    filters: [{ type: "ExtensionRef", extensionRef: { group: "gateway.svc-labs.dev", kind, name } }],
    ...toEcho,
  });
  let address: string | undefined;
  const get = (path: string, options: Partial<SendOptions> = {}): Promise<Reply> =>
    send({ host, gateway: address, path, ...options });

  before(async function () {
    await needGatewayApi(this);
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "users", labels: { "ingress.svc-labs.dev/auth-basic": "true" } },
        type: "Opaque",
        // The password is "open sesame".
        stringData: { auth: "alice:{SHA}W8r/fyL/UzygmbNAjq2HbA67qac=\n" },
      },
      ...extensions.map(({ kind, spec }) => ({
        apiVersion: "gateway.svc-labs.dev/v1alpha1",
        kind,
        metadata: { name: "one" },
        spec,
      })),
      gateway("edge"),
      httpRoute("echo", "edge", {
        hostnames: [host],
        rules: [toEcho, ...[...extensions.map(({ kind }) => kind), otherName].map((kind) => rule(kind))],
      }),
      httpRoute("missing", "edge", {
        hostnames: [`missing.${host}`],
        rules: [rule("RateLimit", "none")],
      }),
    );
    address = await programmedAddress(sandbox.namespace, "edge");
    await until("the route", async () => (await get("/")).status === 200);
  });

  it("an ExtensionRef applies its resource to a rule as its annotation does to an Ingress", async () => {
    const statusOf = async (path: string, options: Partial<SendOptions> = {}): Promise<number> =>
      (await get(path, options)).status;
    expect(await statusOf("/IpAccessControl")).to.equal(403);
    expect(await statusOf("/BasicAuth")).to.equal(401);
    const authorization = `Basic ${Buffer.from("alice:open sesame").toString("base64")}`;
    expect(await statusOf("/BasicAuth", { headers: { authorization } })).to.equal(200);
    // A set without keys cannot verify any token.
    expect(await statusOf("/JwtAuth")).to.equal(503);
    expect(await statusOf("/RequestSizeLimit", { method: "POST", body: "1234" })).to.equal(200);
    expect(await statusOf("/RequestSizeLimit", { method: "POST", body: "12345" })).to.equal(413);
    const compressed = await get("/Compression", { headers: { "accept-encoding": "gzip" } });
    expect(compressed.headers["content-encoding"]).to.equal("gzip");
    expect(echoed(await get("/PathRewriteRegex/a?b=c"))?.path).to.equal("/new/a?b=c");
    expect(echoed(await get("/RetryPolicy"))?.path).to.equal("/RetryPolicy");
    expect(await statusOf("/RouteOptions")).to.equal(200);
    expect(await statusOf("/RouteOptions/closed/a")).to.equal(403);
    // The echo backend acts as the authorization service: it answers with the status in the query.
    for (const path of ["/SvcExternalAuth", "/ExternalAuth"]) {
      expect(await statusOf(path)).to.equal(200);
      expect(await statusOf(`${path}?status=403`)).to.equal(403);
    }
  });

  it("an ExtensionRef to a RateLimit limits the requests of a client at each proxy", async () => {
    const statuses = new Set<number>();
    await until("the limit", async () => {
      statuses.add((await get("/RateLimit")).status);
      return statuses.has(429);
    });
    expect([...statuses]).to.have.members([200, 429]);
  });

  it("an ExtensionRef to a missing resource answers 500", async () => {
    await until(
      "the other route",
      async () =>
        (await send({ host: `missing.${host}`, gateway: address, path: "/RateLimit" })).status === 500,
    );
  });
});
