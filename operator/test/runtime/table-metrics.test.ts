import { expect } from "chai";
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import { noEntries } from "@svc-gateway/common/ir/sorted-entries.ts";
import { controllerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { createTableCounter } from "../../src/runtime/table-metrics.ts";
import type { Routing } from "../../src/translate/translation.ts";

describe("createTableCounter", () => {
  const table = (...ports: readonly TlsPort[]): Routing => ({
    hosts: [],
    endpoints: noEntries,
    tls: new Map(ports.map((port, index) => [443 + index, port])),
    clientCerts: new Map(),
  });

  it("counts server names with a certificate, as proxies do", () => {
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
