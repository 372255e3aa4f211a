import { decodeResource } from "@svc-gateway/common/ir/resource.ts";
import { expect } from "chai";
import type { ObjectOf } from "../../../../src/api/kinds.ts";
import type { KubeObject } from "../../../../src/api/object.ts";
import { vipName } from "../../../../src/translate/gateway/names.ts";
import type { Vip } from "../../../../src/translate/gateway/scopes/vip-plan.ts";
import { defaultTranslateSettings } from "../../../../src/translate/settings.ts";
import { translate } from "../../../../src/translate/translate.ts";
import { createWorld } from "../../../../src/world.ts";

const settings = {
  ...defaultTranslateSettings,
  gatewayVips: { namespace: "svc-system", selector: { app: "proxy" }, serviceType: "LoadBalancer" },
} as const;

const gatewayClass = {
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "GatewayClass",
  metadata: { name: "svc" },
  spec: { controllerName: settings.controllerName },
};

const gateway = (name: string, ports: readonly number[], createdAt = "2026-01-01T00:00:00Z") => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "Gateway",
  metadata: { name, namespace: "shop", creationTimestamp: createdAt },
  spec: {
    gatewayClassName: "svc",
    listeners: ports.map((port) => ({ name: `p${port}`, port, protocol: "HTTP" })),
  },
});

/** The Service of a Gateway with this mapping. */
const vip = (of: ReturnType<typeof gateway>, mapping: readonly (readonly [number, number])[]) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: {
    name: vipName(of as unknown as ObjectOf<"Gateway">),
    namespace: "svc-system",
    labels: { "app.kubernetes.io/component": "shared-gateway-vip" },
  },
  spec: { ports: mapping.map(([port, targetPort]) => ({ port, targetPort })) },
});

function translated(...objects: readonly object[]) {
  const { vips, events } = translate(
    createWorld([gatewayClass, ...objects] as unknown as KubeObject[]),
    settings,
  );
  const mappingOf = ({ service }: Vip) =>
    service.spec.ports.map(({ port, targetPort }) => [port, targetPort]);
  return {
    mappings: vips.map(mappingOf),
    events: events.map(({ reason, message }) => `${reason}: ${message}`),
  };
}

/** The internal ports that the shared proxies bind, by the name of the Gateway. */
function boundPorts(...objects: readonly object[]) {
  const world = createWorld([gatewayClass, ...objects] as unknown as KubeObject[]);
  const { scopes } = translate(world, { ...settings, ingressEnabled: false });
  return Object.fromEntries(
    scopes.shared.flatMap((resource) => {
      const decoded = decodeResource(resource);
      if (!decoded.ok || decoded.value?.type !== "listener") return [];
      const name = resource.key.slice(resource.key.indexOf("/") + 1);
      return [[name, decoded.value.value.listeners.map(({ port }) => port)]];
    }),
  );
}

describe("internal ports of Gateways", () => {
  it("a TCP and a UDP listener of one number share an internal port, with a Service port each", () => {
    const dns = gateway("dns", []);
    const listeners = [
      { name: "udp", port: 53, protocol: "UDP" },
      { name: "tcp", port: 53, protocol: "TCP" },
      { name: "other", port: 54, protocol: "UDP" },
    ];
    const { vips } = translate(
      createWorld([gatewayClass, { ...dns, spec: { ...dns.spec, listeners } }] as unknown as KubeObject[]),
      settings,
    );
    expect(vips[0]?.service.spec.ports).to.deep.equal([
      { name: "port-53", protocol: "TCP", port: 53, targetPort: 30_000 },
      { name: "port-53-udp", protocol: "UDP", port: 53, targetPort: 30_000 },
      { name: "port-54-udp", protocol: "UDP", port: 54, targetPort: 30_001 },
    ]);
  });

  it("Gateways get the lowest free internal ports, the oldest Gateway first", () => {
    const older = gateway("z", [80, 8080]);
    const newer = gateway("a", [80], "2026-01-02T00:00:00Z");
    expect(translated(newer, older).mappings).to.deep.equal([
      [
        [80, 30_000],
        [8080, 30_001],
      ],
      [[80, 30_002]],
    ]);
  });

  it("an internal port is kept while the Service of the Gateway names it", () => {
    const older = gateway("older", [80]);
    const newer = gateway("newer", [80, 81], "2026-01-02T00:00:00Z");
    const services = [vip(newer, [[80, 30_000]])];
    expect(translated(older, newer, ...services)).to.deep.equal({
      mappings: [
        [[80, 30_001]],
        [
          [80, 30_000],
          [81, 30_002],
        ],
      ],
      events: [],
    });
  });

  it("the proxies bind an internal port once the Service of the Gateway names it", () => {
    const older = gateway("older", [80, 81]);
    const newer = gateway("newer", [80], "2026-01-02T00:00:00Z");
    expect(boundPorts(older, newer)).to.deep.equal({});
    const first = vip(newer, [[80, 30_000]]);
    expect(boundPorts(older, newer, first)).to.deep.equal({ newer: [30_000] });
    const second = vip(older, [[81, 30_001]]);
    expect(boundPorts(older, newer, first, second)).to.deep.equal({ newer: [30_000], older: [30_001] });
  });

  it("the proxies bind no internal port that is taken twice for the Gateway whose port is remapped", () => {
    const first = gateway("first", [80]);
    const second = gateway("second", [80], "2026-01-02T00:00:00Z");
    const services = [vip(first, [[80, 30_007]]), vip(second, [[80, 30_007]])];
    expect(boundPorts(first, second, ...services)).to.deep.equal({ first: [30_007] });
  });

  it("the internal ports of a removed Gateway are reserved while its Service exists", () => {
    const removed = gateway("gone", [80]);
    expect(translated(gateway("new", [80]), vip(removed, [[80, 30_000]])).mappings).to.deep.equal([
      [[80, 30_001]],
    ]);
  });

  it("the internal ports of a Gateway without serving listeners are reserved for it", () => {
    const younger = gateway("younger", [80], "2026-01-02T00:00:00Z");
    const { spec } = younger;
    const broken = {
      ...younger,
      spec: { ...spec, listeners: spec.listeners.map((one) => ({ ...one, protocol: "SCTP" })) },
    };
    const older = gateway("older", [80]);
    const service = vip(younger, [[80, 30_000]]);
    expect(translated(older, broken, service).mappings[0]).to.deep.equal([[80, 30_001]]);
    expect(translated(older, younger, service).mappings).to.deep.equal([[[80, 30_001]], [[80, 30_000]]]);
  });

  it("an internal port that is taken twice or out of range is remapped with an Event", () => {
    const first = gateway("first", [80]);
    const second = gateway("second", [80], "2026-01-02T00:00:00Z");
    const third = gateway("third", [80], "2026-01-03T00:00:00Z");
    const services = [vip(first, [[80, 30_007]]), vip(second, [[80, 30_007]]), vip(third, [[80, 99]])];
    expect(translated(first, second, third, ...services)).to.deep.equal({
      mappings: [[[80, 30_007]], [[80, 30_000]], [[80, 30_001]]],
      events: [
        "InternalPortRemapped: Listener port 80 moved from internal port 30007 to 30000",
        "InternalPortRemapped: Listener port 80 moved from internal port 99 to 30001",
      ],
    });
  });

  it("exhausted internal ports raise an Event that names the listeners, and the others are served", () => {
    const full = Array.from({ length: 44 }, (_, index) =>
      gateway(
        `g${String(index).padStart(2, "0")}`,
        Array.from({ length: 63 }, (_port, port) => 1000 + port),
      ),
    );
    const { mappings, events } = translated(...full);
    expect(mappings.flat()).to.have.length(2768);
    expect(events).to.have.length(1);
    expect(events[0]).to.match(
      /^InternalPortRangeExhausted: No free internal port in 30000-32767 for listeners p1059, p1060/,
    );
  });
});
