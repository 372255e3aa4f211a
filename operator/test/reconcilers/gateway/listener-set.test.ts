import { expect } from "chai";
import { listenerSetReconciler } from "../../../src/reconcilers/gateway/listener-set.ts";
import { addressesOf, brief, buildOf, gatewayYaml, statusAfter, vipYaml } from "./support.ts";

const setYaml = `${gatewayYaml.replace("gatewayClassName: svc", "gatewayClassName: svc\n  allowedListeners: { namespaces: { from: Same } }")}---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: { name: more, namespace: shop, generation: 5, uid: uid-more }
spec:
  parentRef: { name: edge }
  listeners:
    - { name: second, port: 8080, protocol: HTTP }
`;
const withAddress = `${setYaml}---${vipYaml(30_000, "[{ ip: 192.0.2.7 }]")}`;

const rig = (isProgrammed: boolean) => {
  const listeners: ((gateway: string | undefined) => void)[] = [];
  const reconciler = listenerSetReconciler({
    addressesOf: addressesOf(),
    fleet: { isProgrammed: () => isProgrammed },
    subscribe(look) {
      listeners.push(look as (typeof listeners)[number]);
      return () => undefined;
    },
  });
  const programmed = async (yaml: string): Promise<readonly string[]> => {
    const status = (await statusAfter(reconciler, buildOf(yaml), "shop/more")) as {
      readonly conditions: unknown;
      readonly listeners: readonly { readonly conditions: unknown }[];
    };
    return [status.conditions, status.listeners[0]?.conditions].flatMap((conditions) =>
      brief(conditions).filter((text) => text.startsWith("Programmed")),
    );
  };
  return { reconciler, programmed, notify: (gateway: string) => listeners.forEach((look) => look(gateway)) };
};

describe("listenerSetReconciler", () => {
  it("a ListenerSet is Programmed once its Gateway has an address and all proxies serve it", async () => {
    expect(await rig(true).programmed(withAddress)).to.deep.equal([
      "Programmed=True Programmed@5",
      "Programmed=True Programmed@5",
    ]);
    const waiting = ["Programmed=False Pending@4", "Programmed=False Pending@4"];
    expect(await rig(false).programmed(withAddress)).to.deep.equal(waiting);
    expect(await rig(true).programmed(setYaml)).to.deep.equal(waiting);
  });

  it("a ListenerSet is reconciled when the address of its Gateway may have changed", () => {
    const { reconciler, notify } = rig(true);
    const looked: string[] = [];
    reconciler.subscribe?.((name) => looked.push(name));
    const before = buildOf(setYaml);
    expect([...reconciler.dirty(undefined, before)]).to.deep.equal(["shop/more"]);
    expect([...reconciler.dirty(before, before)]).to.deep.equal([]);
    expect(new Set(reconciler.dirty(before, buildOf(withAddress)))).to.deep.equal(new Set(["shop/more"]));
    notify("shop/other");
    notify("shop/edge");
    expect(looked).to.deep.equal(["shop/more"]);
  });
});
