import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import { noEntries } from "@svc-gateway/common/ir/sorted-entries.ts";
import { controllerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { expect } from "chai";
import { createTableCounter } from "../../src/build/table-metrics.ts";
import type { Routing, ServedHost } from "../../src/translate/routing.ts";

describe("createTableCounter", () => {
  const table = (...ports: readonly TlsPort[]): Routing => ({
    hosts: [],
    endpoints: noEntries,
    tls: new Map(ports.map((port, index) => [443 + index, port])),
    clientCerts: new Map(),
  });

  it("a host without routes is not counted", () => {
    const metrics = createMetricSet(controllerMetrics);
    const count = createTableCounter(metrics);
    const served = (host: string, ...ids: readonly string[]): ServedHost => ({
      group: "gateway",
      ports: [80],
      host: { kind: host === "*" ? "any" : "exact", host },
      value: {
        listener: "edge",
        inherit: false,
        routes: ids.map((id) => ({
          id,
          source: { kind: "HTTPRoute", namespace: "ns", name: "r" },
          match: { path: { type: "prefix", value: "/" } },
          backends: [],
        })),
      },
    });
    const hosts = metrics.routingTableHosts.with({});
    const one = served("a.example.com", "httproute/ns/r:0");
    count([{ ...table(), hosts: [one, served("*")] }]);
    expect(hosts.value).to.equal(1);
    count([{ ...table(), hosts: [one, served("*", "httproute/ns/r:1")] }]);
    expect(hosts.value).to.equal(2);
    count([{ ...table(), hosts: [one] }]);
    expect(hosts.value).to.equal(1);
  });

  it("server names with a certificate are counted once, as proxies count them", () => {
    const metrics = createMetricSet(controllerMetrics);
    const loaded = (): readonly number[] =>
      ["exact", "wildcard", "default"].map((bucket) => metrics.tlsCertsLoaded.with({ bucket }).value);
    const count = createTableCounter(metrics);
    const shared: TlsPort = {
      certificates: {},
      hosts: [
        { bucket: "exact", host: "a.example.com", certificates: ["one"] },
        { bucket: "exact", host: "b.example.com", certificates: ["one"] },
        { bucket: "wildcard", host: "*.example.com", certificates: ["ecdsa", "rsa"] },
      ],
    };
    const other: TlsPort = {
      certificates: {},
      hosts: [
        { bucket: "exact", host: "a.example.com", certificates: ["one"] },
        { bucket: "default", host: "*", certificates: ["one"] },
      ],
    };
    count([table(shared, other)]);
    expect(loaded()).to.deep.equal([2, 1, 1]);
    count([table(other)]);
    expect(loaded()).to.deep.equal([1, 0, 1]);
    count([table()]);
    expect(loaded()).to.deep.equal([0, 0, 0]);
  });
});
