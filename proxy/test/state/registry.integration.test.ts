import { expect } from "chai";
import { createSnapshot, diffSnapshots } from "@svc-gateway/common/ir/snapshot.ts";
import { createAuthStore } from "../../src/auth/auth-store.ts";
import { createProxyState } from "../../src/state/proxy-state.ts";
import { createProxyMetrics } from "../../src/telemetry/metrics.ts";
import { createUpstreamRegistry } from "../../src/upstream/upstream-registry.ts";
import type { UpstreamEndpoint } from "../../src/upstream/upstream.ts";
import { request } from "../routing/support.ts";
import { breakerEnvironment } from "../upstream/balancing.ts";
import { fakeLog } from "../../../common/test/telemetry/fake-log.ts";
import { backend, endpoints, host, routeTo, anyRequest } from "./support.ts";

describe("the proxy state with the upstream registry", () => {
  it("a rollout keeps endpoints that stay and retires those that are removed", () => {
    const retired: string[] = [];
    const state = createProxyState({
      rates: { counter: () => ({ take: () => 0, giveBack: () => undefined }) },
      concurrency: { enter: () => 0, leave: () => undefined },
      upstreams: createUpstreamRegistry({
        retire: (removed) => void retired.push(...removed.map(({ address }) => address)),
        usableEndpoints: { set() {}, retain() {} },
        breakers: breakerEnvironment().environment,
      }),
      auth: createAuthStore(),
      metrics: createProxyMetrics(),
      log: fakeLog(),
      publish() {},
    });
    const webHost = host("web.example.com", [routeTo("web", "/", [backend("ns/web/http")])]);
    const before = createSnapshot([webHost, endpoints("ns/web/http", "10.0.0.1", "10.0.0.2")]);
    const after = createSnapshot([webHost, endpoints("ns/web/http", "10.0.0.2", "10.0.0.3")]);
    const serving = (): readonly UpstreamEndpoint[] => {
      const route = state.serving.tables.get(80)?.match(request("/", { host: "web.example.com" }));
      const picked = route?.pickBackend(anyRequest);
      return picked?.kind === "upstream" ? picked.upstream.endpoints : [];
    };

    expect(state.apply(diffSnapshots(createSnapshot([]), before)).ok).to.equal(true);
    const [, stays] = serving();
    expect(stays?.address).to.equal("10.0.0.2:8080");
    expect(state.apply(diffSnapshots(before, after)).ok).to.equal(true);
    expect(serving().map(({ address }) => address)).to.deep.equal(["10.0.0.2:8080", "10.0.0.3:8080"]);
    expect(serving()[0]).to.equal(stays);
    expect(retired).to.deep.equal(["10.0.0.1:8080"]);
  });
});
