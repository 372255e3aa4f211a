import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import {
  Ack,
  Check,
  ClientMessage,
  HealthReport,
  NodeStatus,
  Subscribe,
} from "@svc-gateway/proto/generated/discovery.js";
import { until } from "../../../common/test/until.ts";
import { gatewayScope, sharedScope, subscribe } from "./support/raw-client.ts";
import { ended, streamBench } from "./support/stream-bench.ts";

describe("Stream: messages", () => {
  const bench = streamBench();
  beforeEach(async () => {
    await bench.start();
    bench.publish({ a: 1 });
  });

  const firstMessages: readonly (readonly [string, ClientMessage, status])[] = [
    ["wire version 0", subscribe("pod-1", sharedScope(), 0), status.FAILED_PRECONDITION],
    ["wire version 1", subscribe("pod-1", sharedScope(), 1), status.FAILED_PRECONDITION],
    ["wire version 3", subscribe("pod-1", sharedScope(), 3), status.FAILED_PRECONDITION],
    ["a node without a name", subscribe(""), status.INVALID_ARGUMENT],
    ["a node whose name is no pod name", subscribe("Pod/1"), status.INVALID_ARGUMENT],
    ["a Gateway without a name", subscribe("pod-1", gatewayScope("team", "")), status.INVALID_ARGUMENT],
    ["another message first", new ClientMessage({ ack: new Ack() }), status.INVALID_ARGUMENT],
    ["nothing that is known", new ClientMessage(), status.INVALID_ARGUMENT],
  ];
  for (const [what, message, code] of firstMessages) {
    it(`a stream that starts with ${what} is ended with ${status[code]}`, async () => {
      const stream = bench.open();
      stream.send(message);
      expect(await ended(stream)).to.equal(code);
      expect(stream.messages).to.deep.equal([]);
      expect(bench.controller.streamCount("rejected")).to.equal(1);
    });
  }

  it("a subscription without a scope and bytes that are not a ClientMessage end the stream", async () => {
    const scopeless = bench.open();
    scopeless.send(new ClientMessage({ subscribe: new Subscribe({ node_id: "pod-1", wire_version: 2 }) }));
    expect(await ended(scopeless)).to.equal(status.INVALID_ARGUMENT);
    const garbage = bench.open();
    garbage.sendBytes(Buffer.of(0xff, 0xff));
    expect(await ended(garbage)).to.equal(status.INVALID_ARGUMENT);
  });

  it("a second subscription, malformed bytes and an impossible port end the stream", async () => {
    const twice = await bench.subscribed("pod-1");
    twice.send(subscribe("pod-1"));
    expect(await ended(twice)).to.equal(status.INVALID_ARGUMENT);
    const garbage = await bench.subscribed("pod-2");
    garbage.sendBytes(Buffer.of(0xff));
    expect(await ended(garbage)).to.equal(status.INVALID_ARGUMENT);
    const ports = await bench.subscribed("pod-3");
    ports.send(new ClientMessage({ node_status: new NodeStatus({ bound_ports: [80, 70_000] }) }));
    expect(await ended(ports)).to.equal(status.INVALID_ARGUMENT);
  });

  it("unknown messages and acknowledgements of unknown updates are ignored", async () => {
    const stream = await bench.subscribed("pod-1");
    stream.sendBytes(Buffer.of(0x7a, 1, 0));
    stream.send(new ClientMessage({ ack: new Ack({ version: "x", nonce: Uint8Array.of(1) }) }));
    await bench.acked(stream);
    expect(bench.controller.metrics.acks.with({}).value).to.equal(1);
  });

  it("a message of more than 1 MiB ends the stream", async () => {
    const stream = await bench.subscribed("pod-1");
    stream.sendBytes(Buffer.alloc(1024 * 1024 + 1));
    expect(await ended(stream)).to.equal(status.RESOURCE_EXHAUSTED);
  });

  it("the stream of a proxy that sends too many messages is ended", async () => {
    const stream = await bench.subscribed("pod-1");
    for (let count = 0; count < 1100; count += 1) stream.send(new ClientMessage());
    expect(await ended(stream)).to.equal(status.INTERNAL);
  });

  it("the reports of a proxy are kept until its stream ends", async () => {
    const stream = await bench.subscribed("pod-1");
    stream.send(new ClientMessage({ node_status: new NodeStatus({ bound_ports: [443, 80, 443] }) }));
    const check = new Check({
      subsystem: "proxy",
      name: "routing_table_loaded",
      state: "Ready",
      reason: "",
    });
    stream.send(
      new ClientMessage({ health_report: new HealthReport({ version: "1.0.0", checks: [check] }) }),
    );
    await until(() => bench.controller.server.fleet.node("pod-1")?.health === "ready", "the report");
    expect(bench.controller.server.fleet.node("pod-1")?.boundPorts).to.deep.equal([80, 443]);
    stream.cancel();
    await until(() => bench.controller.server.fleet.node("pod-1") === undefined, "the proxy is gone");
    expect(bench.controller.metrics.connectedProxies.with({}).value).to.equal(0);
  });

  it("a proxy may end its stream without an error", async () => {
    const stream = await bench.subscribed("pod-1");
    stream.halfClose();
    expect(await ended(stream)).to.equal(status.OK);
    expect(bench.controller.server.fleet.nodes()).to.deep.equal([]);
  });
});
