import { expect } from "chai";
import type { ProgrammedQuestion } from "../../../src/discovery/fleet.ts";
import { gatewayReconciler } from "../../../src/reconcilers/gateway/gateway.ts";
import {
  acknowledgingFleet,
  addressesOf,
  brief,
  buildOf,
  dedicatedGatewayYaml,
  dedicatedSettings,
  gatewayYaml,
  portTakersYaml,
  statusAfter,
  vipYaml,
  withSetYaml,
} from "./support.ts";

type Status = {
  readonly conditions: unknown;
  readonly addresses?: unknown;
  readonly listeners: readonly { readonly name: string; readonly conditions: unknown }[];
};

const asked: ProgrammedQuestion[] = [];

const reconcilerWhere = (isProgrammed: () => boolean, hasRoutability = false) =>
  gatewayReconciler({
    addressesOf: addressesOf([], new Map(), hasRoutability),
    handover: { notReady: () => undefined },
    subscribe: () => () => undefined,
    fleet: {
      isProgrammed(question) {
        asked.push(question);
        return isProgrammed();
      },
    },
  });

const withAddress = `${gatewayYaml}---${vipYaml(30_000, "[{ hostname: lb.example }, { ip: 192.0.2.7 }]")}`;

const run = async (isProgrammed: boolean, yaml: string, status: unknown = {}) =>
  (await statusAfter(
    reconcilerWhere(() => isProgrammed),
    buildOf(yaml),
    "shop/edge",
    status,
  )) as Status;

describe("gatewayReconciler", () => {
  it("a Gateway is Programmed once it has an address and all proxies serve it", async () => {
    const { conditions, addresses, listeners } = await run(true, withAddress);
    expect(brief(conditions)).to.deep.equal([
      "Accepted=True ListenersNotValid@3",
      "Programmed=True Programmed@3",
    ]);
    expect(addresses).to.deep.equal([
      { type: "IPAddress", value: "192.0.2.7" },
      { type: "Hostname", value: "lb.example" },
    ]);
    expect(listeners.map(({ name, conditions: ofListener }) => [name, ...brief(ofListener)])).to.deep.equal([
      [
        "http",
        "Accepted=True Accepted@3",
        "Conflicted=False NoConflicts@3",
        "ResolvedRefs=True ResolvedRefs@3",
        "Programmed=True Programmed@3",
      ],
      [
        "odd",
        "Accepted=False UnsupportedProtocol@3",
        "Conflicted=False NoConflicts@3",
        "ResolvedRefs=True ResolvedRefs@3",
        "Programmed=False Invalid@3",
      ],
    ]);
  });

  it("a Gateway with an object that belongs to another owner is not Programmed, even if proxies serve it already", async () => {
    const programmed = await run(true, withAddress);
    const reconciler = gatewayReconciler({
      addressesOf: addressesOf(),
      handover: { notReady: () => undefined },
      takenOf: (name) => (name === "shop/edge" ? "Service shop/edge-svc exists" : undefined),
      subscribe: () => () => undefined,
      fleet: { isProgrammed: () => true },
    });
    const status = (await statusAfter(reconciler, buildOf(withAddress), "shop/edge", programmed)) as Status;
    expect(brief(status.conditions)).to.include("Programmed=False Invalid@3");
    expect(JSON.stringify(status.conditions)).to.include("Service shop/edge-svc exists");
  });

  it("a Gateway whose class was deleted keeps its address, and its status says that it stays as it is", async () => {
    const programmed = await run(true, withAddress);
    const gone = withAddress.replace("name: svc }", "name: other }");
    const status = (await statusAfter(
      reconcilerWhere(() => true),
      buildOf(gone),
      "shop/edge",
      programmed,
    )) as Status;
    expect(brief(status.conditions)[0]).to.equal("Accepted=False Invalid@3");
    expect(JSON.stringify(status.conditions)).to.include("GatewayClass svc does not exist");
    expect(status.addresses).to.deep.equal(programmed.addresses);
  });

  it("a Gateway is reconciled again when proxies report, until it is programmed or deleted", async () => {
    let isProgrammed = false;
    const reconciler = reconcilerWhere(() => isProgrammed);
    const waitingAfter = async (
      yaml: string,
      change: Parameters<typeof buildOf>[1] = {},
    ): Promise<readonly string[]> => {
      await statusAfter(reconciler, buildOf(yaml, change), "shop/edge");
      return [...(reconciler.waitingForProxies?.() ?? [])];
    };
    expect(await waitingAfter(withAddress)).to.deep.equal(["shop/edge"]);
    isProgrammed = true;
    expect(await waitingAfter(withAddress)).to.deep.equal([]);
    const own = { dedicated: dedicatedSettings };
    expect(await waitingAfter(dedicatedGatewayYaml, own), "with its own proxies").to.deep.equal([
      "shop/edge",
    ]);
    expect(await waitingAfter(vipYaml(30_000, "[]"))).to.deep.equal([]);
  });

  it("a Gateway is Programmed when proxies have its listener resource and have bound its ports", async () => {
    await run(true, withAddress);
    const { ports, resources, scope } = asked.at(-1) ?? expect.fail("nothing was asked");
    expect(scope).to.deep.equal({ kind: "shared" });
    expect([...ports]).to.deep.equal([30_000]);
    expect([...resources].map(([key]) => key)).to.deep.equal(["listener|shop/edge"]);
  });

  it("a generation is not Programmed by the acknowledgement of the previous one, even if its ports stay the same", async () => {
    const fleet = acknowledgingFleet();
    const reconciler = gatewayReconciler({
      addressesOf: addressesOf(),
      handover: { notReady: () => undefined },
      subscribe: () => () => undefined,
      fleet,
    });
    const after = async (yaml: string, status: unknown = {}): Promise<Status> =>
      (await statusAfter(reconciler, buildOf(yaml), "shop/edge", status)) as Status;
    const before = await after(withAddress);
    expect(brief(before.conditions)).to.include("Programmed=True Programmed@3");
    fleet.stop();
    const next = withAddress
      .replace("generation: 3", "generation: 4")
      .replace(
        "  listeners:",
        "  listeners:\n    - { name: added, port: 80, protocol: HTTP, hostname: new.example }",
      );
    const { conditions, listeners } = await after(next, before);
    expect(brief(conditions)).to.include("Programmed=False Pending@3");
    expect(listeners.map(({ name, conditions: own }) => [name, brief(own).at(-1)])).to.deep.equal([
      ["added", "Programmed=False Pending@3"],
      ["http", "Programmed=False Pending@3"],
      ["odd", "Programmed=False Invalid@4"],
    ]);
  });

  it("a Gateway is Pending while only listeners of its ListenerSets have an internal port", async () => {
    const vip = vipYaml(30_000, "[{ ip: 192.0.2.7 }]").replace("port: 80,", "port: 8080,");
    const { conditions, listeners } = await run(true, `${withSetYaml}---${vip}---\n${portTakersYaml}`);
    expect(brief(listeners[0]?.conditions)).to.include("Programmed=False Pending@2");
    expect(brief(conditions)).to.include("Programmed=False Pending@2");
    expect(JSON.stringify(conditions)).to.include("No internal port is left for its listeners");
  });

  it("addresses have a routability and AddressesAssigned is set only where the definition has the field", async () => {
    const after = async (hasRoutability: boolean, cluster: string): Promise<Status> => {
      const wanted = withAddress
        .replace("  listeners:", "  addresses: [{}, { routability: Cluster }]\n  listeners:")
        .replace("  type: LoadBalancer", `  type: LoadBalancer\n  clusterIPs: [${cluster}]`);
      const reconciler = reconcilerWhere(() => true, hasRoutability);
      return (await statusAfter(reconciler, buildOf(wanted), "shop/edge")) as Status;
    };
    const both = await after(true, "10.96.0.7");
    expect(both.addresses).to.have.deep.members([
      { type: "IPAddress", value: "192.0.2.7", routability: "" },
      { type: "IPAddress", value: "10.96.0.7", routability: "Cluster" },
    ]);
    expect(brief(both.conditions)).to.include("AddressesAssigned=True AddressesAssigned@3");
    const one = await after(true, "");
    expect(one.addresses).to.deep.equal([{ type: "IPAddress", value: "192.0.2.7", routability: "" }]);
    expect(brief(one.conditions)).to.include("AddressesAssigned=False PartiallyAssigned@3");
    expect(brief((await after(false, "10.96.0.7")).conditions).join()).not.to.include("AddressesAssigned");
  });

  it("nothing is decided about a generation while proxies or an address are missing", async () => {
    const unserved = await run(false, withAddress);
    expect(brief(unserved.conditions)).to.include("Programmed=False Pending@2");
    expect(brief(unserved.listeners[0]?.conditions)).to.include("Programmed=False Pending@2");
    const unreached = await run(true, gatewayYaml);
    expect(brief(unreached.conditions)).to.include("Programmed=False AddressNotAssigned@2");
    expect(brief(unreached.listeners[0]?.conditions)).to.include("Programmed=False Pending@2");
  });

  it("a refusal of the same generation is withdrawn when its cause has disappeared", async () => {
    const refused = {
      type: "Programmed",
      status: "False",
      reason: "AddressNotUsable",
      message: "192.0.2.1 is in use",
      observedGeneration: 3,
      lastTransitionTime: "x",
    };
    const { conditions } = await run(false, withAddress, { conditions: [refused] });
    expect(brief(conditions)).to.include("Programmed=False Pending@2");
  });

  it("Programmed=True stays for its generation and is not carried over to the next one", async () => {
    const before = await run(true, withAddress);
    expect(brief((await run(false, withAddress, before)).conditions)).to.include(
      "Programmed=True Programmed@3",
    );
    const next = withAddress.replace("generation: 3", "generation: 4");
    expect(brief((await run(false, next, before)).conditions)).to.include("Programmed=False Pending@3");
  });

  it("conditions of other controllers are kept, and an unchanged status is not written", async () => {
    const foreign = {
      type: "example.com/Checked",
      status: "True",
      reason: "Ok",
      message: "",
      lastTransitionTime: "x",
    };
    const first = await run(true, withAddress, { conditions: [foreign] });
    expect(first.conditions).to.deep.include(foreign);
    expect(await run(true, withAddress, first)).to.deep.equal(first);
  });

  it("a Gateway is reconciled when its Service gets an address, and not when nothing changes", () => {
    const reconciler = reconcilerWhere(() => true);
    const before = buildOf(gatewayYaml);
    expect([...reconciler.dirty(undefined, before)]).to.deep.equal(["shop/edge"]);
    expect([...reconciler.dirty(before, before)]).to.deep.equal([]);
    expect(new Set(reconciler.dirty(before, buildOf(withAddress)))).to.deep.equal(new Set(["shop/edge"]));
  });
});
