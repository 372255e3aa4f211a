import { expect } from "chai";
import type { Fleet } from "../../../src/discovery/fleet.ts";
import { listenerSetReconciler } from "../../../src/reconcilers/gateway/listener-set.ts";
import {
  acknowledgingFleet,
  addressesOf,
  brief,
  buildOf,
  portTakersYaml,
  statusAfter,
  vipYaml,
  withSetYaml,
} from "./support.ts";

const withAddress = `${withSetYaml}---${vipYaml(30_000, "[{ ip: 192.0.2.7 }]")}`;

type Status = {
  readonly conditions: unknown;
  readonly listeners: readonly { readonly conditions: unknown }[];
};

/** `Programmed` of a ListenerSet, and then of its listeners. */
const programmedOf = ({ conditions, listeners }: Status): readonly string[] =>
  [conditions, ...listeners.map(({ conditions: own }) => own)].flatMap((one) =>
    brief(one).filter((text) => text.startsWith("Programmed")),
  );

const rig = (
  isProgrammed: boolean,
  fleet: Pick<Fleet, "isProgrammed"> = { isProgrammed: () => isProgrammed },
) => {
  const listeners: ((gateway: string | undefined) => void)[] = [];
  const reconciler = listenerSetReconciler({
    addressesOf: addressesOf(),
    fleet,
    subscribe(look) {
      listeners.push(look as (typeof listeners)[number]);
      return () => undefined;
    },
  });
  const after = async (yaml: string, status: unknown = {}): Promise<Status> =>
    (await statusAfter(reconciler, buildOf(yaml), "shop/more", status)) as Status;
  return {
    reconciler,
    after,
    programmed: async (yaml: string) => programmedOf(await after(yaml)),
    notify: (gateway: string) => listeners.forEach((look) => look(gateway)),
  };
};

describe("listenerSetReconciler", () => {
  it("a ListenerSet is Programmed once its Gateway has an address and all proxies serve it", async () => {
    expect(await rig(true).programmed(withAddress)).to.deep.equal([
      "Programmed=True Programmed@5",
      "Programmed=True Programmed@5",
    ]);
    const waiting = ["Programmed=False Pending@4", "Programmed=False Pending@4"];
    expect(await rig(false).programmed(withAddress)).to.deep.equal(waiting);
    expect(await rig(true).programmed(withSetYaml)).to.deep.equal(waiting);
  });

  it("a generation of a ListenerSet is not Programmed by the acknowledgement of the previous one", async () => {
    const fleet = acknowledgingFleet();
    const { after } = rig(true, fleet);
    const before = await after(withAddress);
    expect(programmedOf(before)[0]).to.equal("Programmed=True Programmed@5");
    fleet.stop();
    const next = withAddress
      .replace("generation: 5", "generation: 6")
      .replace("port: 8080, protocol: HTTP", "port: 8080, protocol: HTTP, hostname: new.example");
    expect(programmedOf(await after(next, before))).to.deep.equal([
      "Programmed=False Pending@5",
      "Programmed=False Pending@5",
    ]);
  });

  it("a ListenerSet whose listeners got no internal port is Pending, even if proxies serve its Gateway", async () => {
    const status = await rig(true).after(`${withAddress}---\n${portTakersYaml}`);
    expect(programmedOf(status)).to.deep.equal(["Programmed=False Pending@4", "Programmed=False Pending@4"]);
    expect(JSON.stringify(status.listeners)).to.include("No internal port is left for this listener");
    const both = `${withAddress.replace("    - { name: second,", "    - { name: first, port: 80, protocol: HTTP, hostname: a.example }\n    - { name: second,")}---\n${portTakersYaml}`;
    expect(programmedOf(await rig(true).after(both)), "with a listener that has a port").to.deep.equal([
      "Programmed=True Programmed@5",
      "Programmed=True Programmed@5",
      "Programmed=False Pending@4",
    ]);
  });

  it("a ListenerSet is reconciled when the address of its Gateway may have changed", () => {
    const { reconciler, notify } = rig(true);
    const looked: string[] = [];
    reconciler.subscribe?.((name) => looked.push(name));
    const before = buildOf(withSetYaml);
    expect([...reconciler.dirty(undefined, before)]).to.deep.equal(["shop/more"]);
    expect([...reconciler.dirty(before, before)]).to.deep.equal([]);
    expect(new Set(reconciler.dirty(before, buildOf(withAddress)))).to.deep.equal(new Set(["shop/more"]));
    notify("shop/other");
    notify("shop/edge");
    expect(looked).to.deep.equal(["shop/more"]);
  });
});
