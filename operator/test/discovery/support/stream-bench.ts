import type { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { snapshotOf } from "../../../../common/test/ir/snapshots.ts";
import { until } from "../../../../common/test/until.ts";
import {
  ready,
  sharedToken,
  startController,
  stopControllers,
  type TestController,
  type TestControllerOptions,
} from "./controller.ts";
import {
  bootstrap,
  closeClients,
  openRawStream,
  type RawStream,
  sharedScope,
  subscribe,
  type TestIdentity,
} from "./raw-client.ts";

/** The scope of the shared proxies. */
export const shared = { kind: "shared" } as const;

/** The scope of the proxies of a Gateway in the namespace `team`. */
export const gateway = (name: string) =>
  ({ kind: "dedicated", gateway: { namespace: "team", name } }) as const;

/** A controller, and a client with the identity of the shared proxies. */
export class StreamBench {
  controller!: TestController;
  trust = "";
  identity!: TestIdentity;

  async start(options: TestControllerOptions = {}): Promise<void> {
    this.controller = await startController(options);
    this.trust = await ready(this.controller);
    this.identity = await this.identityOf(sharedToken);
  }

  /** Obtains an identity for a token by Bootstrap; throws if that is refused. */
  async identityOf(token: string): Promise<TestIdentity> {
    const answer = await bootstrap(this.controller.ports.bootstrapPort, this.trust, { token });
    if (answer.error !== undefined) throw answer.error;
    return answer.identity;
  }

  open(shown: TestIdentity | undefined = this.identity): RawStream {
    return openRawStream(this.controller.ports.streamPort, this.trust, shown);
  }

  /** Publishes a snapshot with these endpoint sets for the shared proxies. */
  publish(states: Readonly<Record<string, number>>): void {
    this.controller.server.cache.publish([[shared, snapshotOf(states)]]);
  }

  /** Opens a stream, and resolves once it has received its first message. */
  async subscribed(nodeId: string, shown = this.identity, scope = sharedScope()): Promise<RawStream> {
    const stream = this.open(shown);
    stream.send(subscribe(nodeId, scope));
    await received(stream, 1);
    return stream;
  }

  /** Acknowledges the latest snapshot, and waits until the controller has counted that. */
  async acked(stream: RawStream): Promise<void> {
    const { metrics } = this.controller;
    const before = metrics.acks.with({}).value;
    stream.ack();
    await until(() => metrics.acks.with({}).value > before, "the acknowledgement");
  }
}

/** Creates the bench of a describe block. Each test must start it. */
export function streamBench(): StreamBench {
  afterEach(async () => {
    closeClients();
    await stopControllers();
  });
  return new StreamBench();
}

export async function received(stream: RawStream, count: number): Promise<void> {
  await until(() => stream.messages.length >= count || stream.status() !== undefined, `${count} messages`);
  expect(stream.status()).to.equal(undefined);
}

/** The code with which a stream ends. */
export async function ended(stream: RawStream): Promise<status | undefined> {
  await until(() => stream.status() !== undefined, "the end of the stream");
  return stream.status()?.code;
}
