import { expect } from "chai";
import fc from "fast-check";
import { snapshotOf } from "../../../common/test/ir/snapshots.ts";
import { startRelay, type Relay } from "../../../common/test/relay.ts";
import { until } from "../../../common/test/until.ts";
import {
  ready,
  startController,
  stopControllers,
} from "../../../operator/test/discovery/support/controller.ts";
import type { TestController } from "../../../operator/test/discovery/support/controller.ts";
import { startProxy, stopProxies } from "./rig.ts";

const shared = { kind: "shared" } as const;

type World = Readonly<Record<string, number>>;

/** The events that can happen between a controller and a proxy. */
type Happening =
  | { readonly kind: "publish"; readonly world: World }
  | { readonly kind: "cut" }
  | { readonly kind: "refuse" }
  | { readonly kind: "lead"; readonly isLeading: boolean }
  | { readonly kind: "wait"; readonly turns: number };

const world = fc.dictionary(fc.constantFrom("a", "b", "c", "d", "e"), fc.nat({ max: 3 }));

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 6, arbitrary: world.map((next) => ({ kind: "publish", world: next }) as const) },
  { weight: 2, arbitrary: fc.constant({ kind: "cut" } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "refuse" } as const) },
  { weight: 1, arbitrary: fc.boolean().map((isLeading) => ({ kind: "lead", isLeading }) as const) },
  { weight: 4, arbitrary: fc.nat({ max: 20 }).map((turns) => ({ kind: "wait", turns }) as const) },
);

describe("convergence", () => {
  let controller: TestController;
  let bundlePem: string;
  let relay: Relay;
  let runs = 0;

  before(async () => {
    controller = await startController();
    bundlePem = await ready(controller);
    relay = await startRelay({ host: "127.0.0.1", port: controller.ports.streamPort });
  });
  after(async () => {
    await stopProxies();
    await relay.close();
    await stopControllers();
  });

  it("a proxy converges to the last snapshot after any sequence of changes and failures", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { maxLength: 25 }), world, async (happenings, last) => {
        const nodeId = `proxy-${(runs += 1)}`;
        controller.server.cache.publish([[shared, snapshotOf({})]]);
        const ports = { ...controller.ports, streamPort: relay.port };
        const proxy = await startProxy({ ports, bundlePem, nodeId, random: () => 0 });
        for (const one of happenings) {
          if (one.kind === "publish") controller.server.cache.publish([[shared, snapshotOf(one.world)]]);
          if (one.kind === "cut") relay.cut();
          if (one.kind === "refuse") proxy.state.refuse("not this one", 1);
          if (one.kind === "lead") controller.leadership.set(one.isLeading);
          for (let turn = one.kind === "wait" ? one.turns : 0; turn > 0; turn -= 1) {
            await new Promise((resolve) => setImmediate(resolve));
          }
        }
        proxy.state.refuse("", 0);
        controller.server.cache.publish([[shared, snapshotOf(last)]]);
        // A proxy that has refused thrice is served more slowly; a new stream begins afresh.
        relay.cut();
        const { version } = snapshotOf(last);
        const fleetNode = () => controller.server.fleet.node(nodeId);
        await until(() => proxy.state.snapshot().version === version, `version of ${JSON.stringify(last)}`);
        await until(() => fleetNode()?.isInSync === true, "acknowledged");
        await until(() => proxy.client.state() === "Ready", "Ready");
        await proxy.stop();
        expect(proxy.state.snapshot().resources).to.deep.equal(snapshotOf(last).resources);
      }),
      { numRuns: 60 },
    );
  });
});
