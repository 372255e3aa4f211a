import { expect } from "chai";
import { ask } from "../support/api.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

type Event = {
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly kind: string; readonly name: string };
};

describe("Events", () => {
  const sandbox = useSandbox("events");
  const eventsOf = async (name: string): Promise<readonly Event[]> => {
    const { items } = await ask<{ items: readonly Event[] }>(
      `/apis/events.k8s.io/v1/namespaces/${sandbox.namespace}/events`,
    );
    return items.filter(({ regarding }) => regarding.kind === "Ingress" && regarding.name === name);
  };
  const eventOf = (name: string, reason: string): Promise<{ readonly value: Event }> =>
    until(`${reason} on ${name}`, async () =>
      (await eventsOf(name)).find((event) => event.reason === reason),
    );

  it("a RouteConflict Event is on the later of two Ingresses with one path, and not on the earlier", async () => {
    const host = "conflict.e2e.example";
    await sandbox.apply(ingress({ name: "a-first", host, paths: [{ path: "/same", service: "none" }] }));
    await sandbox.apply(ingress({ name: "b-second", host, paths: [{ path: "/same", service: "none" }] }));
    const { value } = await eventOf("b-second", "RouteConflict");
    expect(value.type).to.equal("Warning");
    expect(value.note).to.equal(
      `Route on host ${host} path /same is shadowed by ${sandbox.namespace}/a-first`,
    );
    expect((await eventsOf("a-first")).map(({ reason }) => reason)).to.not.include("RouteConflict");
  });

  it("an InvalidAnnotation Event names an annotation whose value is well-formed and out of range", async () => {
    // A number that cannot be represented, which only the controller checks.
    const annotations = { "max-body-size": "99999999999999999999g" };
    await sandbox.apply(
      ingress({ name: "invalid", host: "invalid.e2e.example", annotations, paths: [{ service: "none" }] }),
    );
    const { value } = await eventOf("invalid", "InvalidAnnotation");
    expect(value.type).to.equal("Warning");
    expect(value.note).to.match(/^ingress\.svc-labs\.dev\/max-body-size: .*request bodies are not limited$/);
  });
});
