import { expect } from "chai";
import { ask, find } from "../support/api.ts";
import { echoed, send, type SendOptions } from "../support/client.ts";
import { deployEcho } from "../support/echo.ts";
import { gateway, gatewayApi, httpListener, httpRoute, to } from "../support/gateway-api.ts";
import { gatewayAt, programmedAddress } from "../support/gateways.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

type Properties = { readonly properties?: { readonly [name: string]: Schema } };
type Schema = Properties & { readonly items?: Properties };
type Definition = {
  readonly spec: {
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: Schema };
    }[];
  };
};

/** Whether listeners have the field `filters`, which only the definitions of the experimental channel contain. */
async function hasFilters(): Promise<boolean> {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gateways.gateway.networking.k8s.io";
  const versions = (await find<Definition>(path))?.spec.versions ?? [];
  const spec = versions.find(({ name }) => name === "v1")?.schema.openAPIV3Schema.properties?.["spec"];
  return spec?.properties?.["listeners"]?.items?.properties?.["filters"] !== undefined;
}

describe("filters of listeners", () => {
  const sandbox = useSandbox("listener-filters");
  const host = "listener-filters.e2e.example";
  const open = { host: "open.e2e.example" };

  /**
   * An authorization service, for which the echo backend is used: it sends its name, and answers with the status in
   * the query.
   */
  const edge = (service: string): object => {
    const externalAuth = {
      protocol: "HTTP",
      backendRef: { name: service, port: 80 },
      http: { allowedResponseHeaders: ["Echo-Backend"] },
    };
    const filters = { requests: [{ type: "ExternalAuth", externalAuth }] };
    return gateway("edge", {
      listeners: [{ ...httpListener("asked"), hostname: host, filters }, httpListener("open")],
    });
  };

  before(async function () {
    if (!(await hasFilters())) this.skip();
    await Promise.all(["gate", "chosen", "other"].map((name) => deployEcho(sandbox, { name, replicas: 1 })));
    const isChosen = { name: "Echo-Backend", type: "RegularExpression", value: "^gate-" };
    await sandbox.apply(
      edge("gate"),
      httpRoute("web", "edge", {
        rules: [
          { matches: [{ headers: [isChosen] }], backendRefs: to("chosen") },
          { backendRefs: to("other") },
        ],
      }),
    );
  });

  /** The backend that answered, or else the status of the response. */
  async function get(path: string, options: Partial<SendOptions> = {}): Promise<string | undefined> {
    const address = await programmedAddress(sandbox.namespace, "edge");
    const reply = await send({ host, gateway: address, path, ...options });
    return reply.status === 200 ? echoed(reply)?.backend.split("-")[0] : String(reply.status);
  }

  it("an ExternalAuth filter of a listener influences the choice of the route, on that listener only", async () => {
    await until("the service to choose", async () => (await get("/")) === "chosen");
    expect(await get("/?status=403")).to.equal("403");
    expect(await get("/", { ...open, headers: { "Echo-Backend": "mine" } })).to.equal("other");
  });

  it("a listener filter whose service is missing answers 500, and a condition reports it", async () => {
    await sandbox.apply(edge("missing"));
    await until("the filter to be broken", async () => (await get("/")) === "500");
    const { value } = await until("the status", async () => {
      const { status } = await gatewayAt(sandbox.namespace, "edge");
      const conditions = status?.listeners?.find(({ name }) => name === "asked")?.conditions ?? [];
      return conditions.find(({ type, status: is }) => type === "ResolvedRefs" && is === "False");
    });
    expect(value.reason).to.equal("InvalidListenerFilterRef");
    expect(await get("/", open)).to.equal("other");
  });

  it("listener filters are among the supported features of the GatewayClass", async () => {
    type Class = { readonly status?: { readonly supportedFeatures?: readonly { readonly name: string }[] } };
    await until("the feature", async () => {
      const { status } = await ask<Class>(`/apis/${gatewayApi}/gatewayclasses/svc`);
      return status?.supportedFeatures?.some(({ name }) => name === "GatewayListenerFilters");
    });
  });
});
