import { expect } from "chai";
import { backendTlsKey } from "@svc-gateway/common/ir/keys.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import type { ObjectOf } from "../../../src/api/kinds.ts";
import { closedPorts, type PortConnections } from "../../../src/translate/backends/port-connections.ts";
import {
  createPortSettingsFitter,
  maxPortSettingsLength,
} from "../../../src/translate/backends/port-settings-sizes.ts";
import { createWorld } from "../../../src/world.ts";

const policy = (namespace: string, name: string, day: number): KubeObject => ({
  apiVersion: "gateway.svc-labs.dev/v1alpha1",
  kind: "SvcBackendPolicy",
  metadata: { namespace, name, creationTimestamp: `2030-01-0${day}T00:00:00Z` },
  ...{
    spec: {
      targetRefs: [{ group: "", kind: "Service", name }],
      ports: [{ port: 443, tls: { insecureSkipVerify: true } }],
    },
  },
});

/** The policies without settings where each of `team` has settings of this length, and every other one small ones. */
function closedOf(objects: readonly KubeObject[], length: number): readonly string[] {
  const policies = createWorld(objects).SvcBackendPolicy;
  const read = ({ metadata }: ObjectOf<"SvcBackendPolicy">): PortConnections => {
    const body = "a".repeat(metadata.namespace === "team" ? length : 1000);
    const tls = { name: "own", resource: { key: backendTlsKey("own"), hash: "", body } };
    return { ports: new Map([[443, { tls }]]), unusable: [], diagnostics: [] };
  };
  const fit = createPortSettingsFitter(policies, read);
  return policies.flatMap((one) => {
    const own = read(one);
    const fitted = fit(one, own);
    if (fitted === own) return [];
    expect(fitted.ports, "the port gets no connections, in particular none in cleartext").to.deep.equal(
      closedPorts(one).ports,
    );
    expect(fitted.ports.get(443)?.tls, "the port keeps TLS").to.not.equal(undefined);
    expect(fitted.diagnostics.map(({ object }) => object.name)).to.deep.equal([one.metadata.name]);
    expect(fitted.diagnostics[0]?.message).to.include("16 MiB");
    return [one.metadata.name];
  });
}

describe("the TLS settings of ports in SvcBackendPolicies", () => {
  const all = [
    policy("team", "b", 2),
    policy("shop", "s", 9),
    policy("team", "c", 3),
    policy("team", "a", 1),
  ];

  it("the TLS settings of ports are kept while all of them fit the limit", () => {
    expect(closedOf(all, Math.floor(maxPortSettingsLength / 3) - 1000)).to.deep.equal([]);
  });

  it("settings above the limit are lost by the newest policies of the largest namespace, whose ports are then not connected to", () => {
    expect(closedOf(all, Math.floor(maxPortSettingsLength / 3) + 1)).to.deep.equal(["c"]);
    expect([...closedOf(all, maxPortSettingsLength)].sort()).to.deep.equal(["a", "b", "c"]);
  });
});
