import { expect } from "chai";
import { echoed, fieldsOf, send, type Reply, type SendOptions } from "../support/client.ts";
import { coversFilters } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { gateway, httpRoute, needGatewayApi, to } from "../support/gateway-api.ts";
import { programmedAddress } from "../support/gateways.ts";
import { metric } from "../support/metrics.ts";
import { readyPodsOf } from "../support/pods.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

/** CORS and URLRewrite have files of their own. */
describe("standard filters of an HTTPRoute", () => {
  const sandbox = useSandbox("gateway-filters");
  coversFilters(
    "ExternalAuth",
    "RequestHeaderModifier",
    "RequestMirror",
    "RequestRedirect",
    "ResponseHeaderModifier",
  );
  const host = "gateway-filters.e2e.example";
  let address: string | undefined;
  const get = (path: string, options: Partial<SendOptions> = {}): Promise<Reply> =>
    send({ host, gateway: address, path, ...options });

  before(async function () {
    await needGatewayApi(this);
    await Promise.all([
      deployEcho(sandbox, { replicas: 1 }),
      deployEcho(sandbox, { name: "copy", replicas: 1 }),
    ]);
    const rule = (path: string, filter: { readonly type: string }, backendRefs = to("echo")): object => ({
      matches: [{ path: { value: path } }],
      filters: [filter],
      backendRefs,
    });
    const changes = {
      set: [{ name: "X-Set", value: "gateway" }],
      add: [{ name: "X-Added", value: "gateway" }],
      remove: ["X-Removed"],
    };
    const ofRequests = { type: "RequestHeaderModifier", requestHeaderModifier: changes };
    const ofResponses = {
      type: "ResponseHeaderModifier",
      responseHeaderModifier: { set: [{ name: "X-Set", value: "gateway" }], remove: ["Echo-Backend"] },
    };
    const redirect = {
      type: "RequestRedirect",
      requestRedirect: {
        hostname: "www.example.com",
        path: { type: "ReplacePrefixMatch", replacePrefixMatch: "/moved" },
        statusCode: 301,
      },
    };
    const mirror = { type: "RequestMirror", requestMirror: { backendRef: { name: "copy", port: 80 } } };
    // The echo backend acts as the authorization service: it answers with the status in the query.
    const auth = {
      type: "ExternalAuth",
      externalAuth: {
        protocol: "HTTP",
        backendRef: { name: "echo", port: 80 },
        http: { allowedResponseHeaders: ["Echo-Backend"] },
      },
    };
    await sandbox.apply(
      gateway("edge"),
      httpRoute("echo", "edge", {
        hostnames: [host],
        rules: [
          rule("/request", ofRequests),
          rule("/response", ofResponses),
          { ...rule("/redirect", redirect), backendRefs: [] },
          rule("/mirror", mirror),
          rule("/auth", auth),
          // A filter of a backend applies only to the requests sent to that backend.
          {
            matches: [{ path: { value: "/backend" } }],
            backendRefs: [{ name: "echo", port: 80, filters: [ofRequests] }],
          },
        ],
      }),
    );
    address = await programmedAddress(sandbox.namespace, "edge");
    await until("the route", async () => (await get("/request")).status === 200);
  });

  for (const [path, where] of [
    ["/request", "a rule"],
    ["/backend", "a backend"],
  ] as const) {
    it(`RequestHeaderModifier of ${where} sets, adds and removes headers of the request to the backend`, async () => {
      const reply = await get(path, {
        headers: { "x-set": "client", "x-added": "client", "x-removed": "client" },
      });
      expect(fieldsOf(reply, "x-set")).to.deep.equal(["gateway"]);
      expect(fieldsOf(reply, "x-added").join(", ")).to.match(/client, ?gateway/);
      expect(fieldsOf(reply, "x-removed")).to.deep.equal([]);
    });
  }

  it("ResponseHeaderModifier sets and removes headers of the response", async () => {
    const { status, headers } = await get("/response");
    expect([status, headers["x-set"], headers["echo-backend"]]).to.deep.equal([200, "gateway", undefined]);
  });

  it("RequestRedirect answers with the redirect", async () => {
    const { status, headers } = await get("/redirect/a?b=c");
    expect([status, headers.location]).to.deep.equal([301, "http://www.example.com/moved/a?b=c"]);
  });

  it("RequestMirror copies requests to another Service and answers from the backend", async () => {
    const copies = async (): Promise<number> => {
      const counts = (await readyPodsOf("shared-proxy")).map((pod) =>
        metric(pod, "svc_proxy_mirror_requests_total", { upstream: `${sandbox.namespace}/copy` }),
      );
      return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    };
    await until("a copy of a request", async () => {
      expect(echoed(await get("/mirror"))?.backend).to.match(/^echo-/);
      return (await copies()) > 0;
    });
  });

  it("ExternalAuth lets a service authorize requests and send headers to the backend", async () => {
    const reply = await get("/auth", { headers: { "echo-backend": "forged" } });
    expect(reply.status).to.equal(200);
    expect(fieldsOf(reply, "echo-backend").join()).to.match(/^echo-[^,]*$/);
    expect((await get("/auth?status=403")).status).to.equal(403);
  });
});
