import { decodeResource } from "@svc-gateway/common/ir/resource.ts";
import type { LogFields } from "@svc-gateway/common/telemetry/log-level.ts";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { expect } from "chai";
import type { KubeObject } from "../../src/api/object.ts";
import { createTicketKeyKeeper, ticketKeySecret } from "../../src/keys/ticket-key-keeper.ts";
import { createWorld, emptyWorld, type World } from "../../src/world.ts";
import { createFakeClient, type FakeClient } from "../support/fake-client.ts";
import { createTestClock, settle } from "../support/test-clock.ts";

type Body = { readonly data: Readonly<Record<string, string>>; readonly metadata?: object };

const hour = 60 * 60_000;

/** An API server with one Secret, and a keeper whose world is what is stored there. */
function setUp(isLeading = true) {
  let stored: Readonly<Record<string, string>> | undefined;
  let version = 0;
  let refusal: number | undefined;
  const clock = createTestClock();
  const logged: { readonly message: string; readonly fields: LogFields }[] = [];
  const client: FakeClient = createFakeClient(({ method = "GET", body }) => {
    if (method === "GET") {
      return stored === undefined ? 404 : { metadata: { resourceVersion: String(version) }, data: stored };
    }
    if (refusal !== undefined) return refusal;
    version++;
    stored = (body as Body).data;
    return {};
  });
  const keeper = createTicketKeyKeeper({
    client,
    namespace: "svc-system",
    leadership: { term: () => (isLeading ? new AbortController().signal : undefined) },
    log: { ...silentLogger, info: (fields, message) => void logged.push({ fields, message }) },
    clock,
  });
  const world = (): World =>
    stored === undefined
      ? emptyWorld
      : createWorld([
          {
            apiVersion: "v1",
            kind: "Secret",
            metadata: { name: ticketKeySecret, namespace: "svc-system" },
            type: "Opaque",
            data: stored,
          } as KubeObject,
        ]);
  const keys = (): readonly string[] => {
    const [resource] = keeper.resources(world(), { kind: "shared" });
    if (resource === undefined) return [];
    const decoded = decodeResource(resource);
    if (!decoded.ok || decoded.value?.type !== "ticket-keys") throw new Error("not the keys of tickets");
    return decoded.value.value.keys;
  };
  const build = async (): Promise<void> => {
    keeper.check(world());
    await settle();
  };
  return {
    clock,
    client,
    keeper,
    keys,
    build,
    logged,
    writes: () => client.calls.filter(({ method }) => method !== undefined).length,
    refuse: (status: number | undefined) => (refusal = status),
  };
}

describe("the keeper of session ticket keys", () => {
  it("the first ticket key is created, and proxies get keys that are derived from it", async () => {
    const { build, keys, client, keeper } = setUp();
    expect(keys()).to.deep.equal([]);
    await build();
    expect(keys()).to.have.length(1);
    expect(Buffer.from(keys()[0] ?? "", "base64")).to.have.length(48);
    const sent = client.calls.find(({ method }) => method === "POST")?.body as Body;
    const master = Buffer.from(sent.data["keys"] ?? "", "base64")
      .toString()
      .trim()
      .split(" ")[1];
    expect(keys()[0]).not.to.equal(master);
    keeper.stop();
  });

  it("a ticket key is added every twelve hours and two older ones are kept, newest first", async () => {
    const { build, keys, clock, keeper } = setUp();
    const seen: string[] = [];
    for (let turn = 0; turn < 4; turn++) {
      await build();
      expect(keys()[0]).not.to.equal(seen[0]);
      seen.unshift(keys()[0] ?? "");
      expect(keys()).to.deep.equal(seen.slice(0, 3));
      await clock.advance(12 * hour - 1);
      await build();
      expect(keys()[0]).to.equal(seen[0]);
      await clock.advance(1);
    }
    keeper.stop();
  });

  it("a ticket key is added when it is due, without a build", async () => {
    const { build, writes, clock, keeper } = setUp();
    await build();
    await build();
    expect(writes()).to.equal(1);
    await clock.advance(13 * hour);
    expect(writes()).to.be.greaterThan(1);
    keeper.stop();
  });

  it("the age of a ticket key is its time of day, so that it survives restarts of the controller", async () => {
    const client = createFakeClient(({ method }) => (method === undefined ? 404 : {}));
    const leadership = { term: () => new AbortController().signal };
    const keeper = createTicketKeyKeeper({ client, namespace: "svc-system", leadership, log: silentLogger });
    keeper.check(emptyWorld);
    await settle();
    keeper.stop();
    const sent = client.calls.find(({ method }) => method === "POST")?.body as Body;
    const [time = ""] = Buffer.from(sent.data["keys"] ?? "", "base64")
      .toString("latin1")
      .split(" ");
    expect(Math.abs(Date.parse(time) - Date.now())).to.be.lessThan(hour);
  });

  it("only the leader writes ticket keys", async () => {
    const { build, writes, clock, keeper } = setUp(false);
    await build();
    await clock.advance(hour);
    expect(writes()).to.equal(0);
    keeper.stop();
  });

  it("a failed write is retried, and a conflict counts as the success of another replica", async () => {
    const { build, keys, refuse, clock, keeper, logged } = setUp();
    refuse(500);
    await build();
    expect(keys()).to.deep.equal([]);
    refuse(409);
    await clock.advance(5_000);
    expect(logged).to.deep.equal([]);
    refuse(undefined);
    await clock.advance(5_000);
    expect(keys()).to.have.length(1);
    expect(logged).to.deep.equal([
      { message: "session ticket key added", fields: { secret: ticketKeySecret, keys: 1 } },
    ]);
    keeper.stop();
  });
});
