import { expect } from "chai";
import { send, type Reply, type SendOptions } from "../support/client.ts";
import { covers, coversFilters } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { gateway, httpRoute, needGatewayApi, to } from "../support/gateway-api.ts";
import { programmedAddress } from "../support/gateways.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("cors", () => {
  const sandbox = useSandbox("cors");
  coversFilters("CORS");
  const host = "cors.e2e.example";
  const page = "https://app.example.com";
  let address: string | undefined;

  const fetch = (path: string, origin: string, options: Partial<SendOptions> = {}): Promise<Reply> =>
    send({ host, gateway: address, path, ...options, headers: { origin, ...options.headers } });
  const preflight = (path: string, origin: string): Promise<Reply> =>
    fetch(path, origin, {
      method: "OPTIONS",
      headers: { "access-control-request-method": "PUT", "access-control-request-headers": "x-a" },
    });
  /** The Access-Control headers of a response, without the prefix of their names. */
  const grants = ({ headers }: Reply): Readonly<Record<string, unknown>> =>
    Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) =>
        name.startsWith("access-control-") ? [[name.slice("access-control-".length), value]] : [],
      ),
    );

  before(async function () {
    await needGatewayApi(this);
    await deployEcho(sandbox, { replicas: 1 });
    const rule = (path: string, cors: object): object => ({
      matches: [{ path: { value: path } }],
      filters: [{ type: "CORS", cors }],
      backendRefs: to("echo"),
    });
    await sandbox.apply(
      gateway("edge"),
      httpRoute("echo", "edge", {
        hostnames: [host],
        rules: [
          rule("/listed", {
            allowOrigins: [page, "https://*.example.org"],
            allowMethods: ["GET", "PUT"],
            allowHeaders: ["X-A"],
            exposeHeaders: ["Echo-Backend"],
            maxAge: 60,
          }),
          rule("/credentials", {
            allowOrigins: ["*"],
            allowMethods: ["*"],
            allowHeaders: ["*"],
            allowCredentials: true,
          }),
          rule("/public", { allowOrigins: ["*"] }),
        ],
      }),
    );
    address = await programmedAddress(sandbox.namespace, "edge");
    await until("the route", async () => (await fetch("/listed", page)).status === 200);
  });

  it("CORS answers the preflight of an allowed origin with what it may do", async () => {
    for (const origin of [page, "https://a.b.example.org"]) {
      const reply = await preflight("/listed", origin);
      expect([reply.status, reply.body]).to.deep.equal([204, ""]);
      expect(grants(reply)).to.deep.equal({
        "allow-origin": origin,
        "allow-methods": "GET, PUT",
        "allow-headers": "X-A",
        "max-age": "60",
        "expose-headers": "Echo-Backend",
      });
    }
  });

  it("CORS says on a response which origin may read it, and caches what it depends on", async () => {
    const reply = await fetch("/listed", page);
    expect(reply.status).to.equal(200);
    expect(grants(reply)).to.deep.equal({ "allow-origin": page, "expose-headers": "Echo-Backend" });
    expect(reply.headers.vary).to.equal("Origin");
  });

  it("CORS grants nothing to an origin that is not allowed, and refuses it nothing", async () => {
    for (const origin of ["https://evil.example", `${page}.evil.example`, "http://app.example.com", "null"]) {
      const [asked, sent] = [await preflight("/listed", origin), await fetch("/listed", origin)];
      expect([asked.status, grants(asked)], origin).to.deep.equal([204, {}]);
      expect([sent.status, grants(sent)], origin).to.deep.equal([200, {}]);
    }
  });

  it("CORS with credentials names origin, method and headers instead of a wildcard", async () => {
    expect(grants(await preflight("/credentials", page))).to.deep.equal({
      "allow-origin": page,
      "allow-credentials": "true",
      "allow-methods": "PUT",
      "allow-headers": "x-a",
      "max-age": "5",
    });
    expect(grants(await fetch("/credentials", page))).to.deep.equal({
      "allow-origin": page,
      "allow-credentials": "true",
    });
  });

  it("CORS of every origin without credentials is the same for all, so that caches can share it", async () => {
    const reply = await fetch("/public", page);
    expect(grants(reply)).to.deep.equal({ "allow-origin": "*" });
    expect(reply.headers.vary).to.equal(undefined);
  });

  it("CORS says it on answers of the proxy itself as well", async () => {
    const reply = await fetch("/nowhere", page);
    expect([reply.status, grants(reply)]).to.deep.equal([404, {}]);
    await sandbox.delete("service", "echo");
    const { value: broken } = await until("the backend to be missing", async () => {
      const answer = await fetch("/public", page);
      return answer.status !== 200 && answer;
    });
    expect(grants(broken)).to.deep.equal({ "allow-origin": "*" });
  });
});

describe("cors of an Ingress", () => {
  const sandbox = useSandbox("cors-ingress");
  covers(
    "cors-allow-origins",
    "cors-allow-methods",
    "cors-allow-headers",
    "cors-allow-credentials",
    "cors-expose-headers",
    "cors-max-age",
  );
  const host = "cors-ingress.e2e.example";
  const page = "https://app.example.com";

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    const annotations = {
      "cors-allow-origins": `${page}, https://*.example.org`,
      "cors-allow-methods": "GET, PUT",
      "cors-allow-headers": "X-A",
      "cors-allow-credentials": "true",
      "cors-expose-headers": "Echo-Backend",
      "cors-max-age": "1m",
    };
    await sandbox.apply(ingress({ name: "echo", host, annotations, paths: [{ service: "echo" }] }));
    await until("the Ingress to be served", async () => (await send({ host })).status === 200);
  });

  it("CORS annotations answer the preflight of an allowed origin, and grant it the response", async () => {
    const asked = { "access-control-request-method": "PUT", "access-control-request-headers": "x-a" };
    const answer = await send({ host, method: "OPTIONS", headers: { origin: page, ...asked } });
    expect(answer.status).to.equal(204);
    expect(answer.headers).to.include({
      "access-control-allow-origin": page,
      "access-control-allow-methods": "GET, PUT",
      "access-control-allow-headers": "X-A",
      "access-control-max-age": "60",
    });
    expect((await send({ host, headers: { origin: page } })).headers).to.include({
      "access-control-allow-origin": page,
      "access-control-allow-credentials": "true",
      "access-control-expose-headers": "Echo-Backend",
    });
  });

  it("CORS annotations grant nothing to another origin", async () => {
    const reply = await send({ host, headers: { origin: "https://evil.example" } });
    expect(reply.status).to.equal(200);
    expect(reply.headers).to.not.have.property("access-control-allow-origin");
  });
});
