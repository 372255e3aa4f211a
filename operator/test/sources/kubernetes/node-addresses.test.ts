import type { ServerResponse } from "node:http";
import { expect } from "chai";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { until } from "../../../../common/test/until.ts";
import { createApiClient } from "../../../src/sources/kubernetes/api-client.ts";
import { followNodeAddresses } from "../../../src/sources/kubernetes/node-addresses.ts";
import { sendJson, startFakeApiServer } from "./fake-api-server.ts";

const node = (name: string, addresses: Readonly<Record<string, string>>): object => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, uid: name, resourceVersion: "2" },
  status: { addresses: Object.entries(addresses).map(([type, address]) => ({ type, address })) },
});

describe("the addresses of nodes", () => {
  it("each node has one address, external before internal, sorted by node name and updated by the watch", async () => {
    const watches: ServerResponse[] = [];
    const a = node("a", { Hostname: "a", InternalIP: "10.0.0.1", ExternalIP: "192.0.2.1" });
    const server = await startFakeApiServer((_request, response, { searchParams }) => {
      if (searchParams.has("watch")) return void watches.push(response);
      const items = [node("b", { InternalIP: "10.0.0.2" }), a, node("c", { Hostname: "c" })];
      sendJson(response, { metadata: { resourceVersion: "1" }, items });
    });
    const client = await createApiClient(server.config);
    const stop = new AbortController();
    const nodes = followNodeAddresses({ client, log: silentLogger, signal: stop.signal });
    const notified: (readonly string[])[] = [];
    nodes.subscribe(() => notified.push(nodes.list()));
    const say = (type: string, object: object): void =>
      void watches[0]?.write(`${JSON.stringify({ type, object })}\n`);

    await until(() => notified.length === 1 && watches.length === 1, "the list, and the watch");
    say("MODIFIED", a);
    say("MODIFIED", node("b", { InternalIP: "10.0.0.9" }));
    await until(() => notified.length === 2, "the changed node");
    say("DELETED", a);
    await until(() => notified.length === 3, "the deleted node");
    expect(notified).to.deep.equal([["192.0.2.1", "10.0.0.2"], ["192.0.2.1", "10.0.0.9"], ["10.0.0.9"]]);

    stop.abort();
    await nodes.done;
    await client.close();
    await server.close();
  });
});
