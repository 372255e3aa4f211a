import { expect } from "chai";
import { BodyMemory, HeldBody, type HoldFailure } from "../../src/http/held-body.ts";
import type { BodySink, HeaderList, RequestBody } from "../../src/message/message.ts";

/** A request body that the test provides. */
class Client implements RequestBody {
  length: number | undefined = undefined;
  started = false;
  sink: BodySink | undefined = undefined;

  start(sink: BodySink): void {
    this.started = true;
    this.sink = sink;
  }

  resume(): void {}

  say(text: string): boolean {
    return this.sink?.onData(Buffer.from(text)) ?? false;
  }
}

/** A sink that accepts one chunk and then pauses until it is resumed. */
class Sink implements BodySink {
  text = "";
  ended = false;
  trailers: HeaderList | undefined = undefined;

  onData(chunk: Buffer | string): boolean {
    this.text += chunk.toString();
    return false;
  }

  onEnd(trailers: HeaderList | undefined): void {
    this.ended = true;
    this.trailers = trailers;
  }

  onAbort(): void {}
}

describe("a held body", () => {
  let memory: BodyMemory;
  let client: Client;

  beforeEach(() => {
    memory = new BodyMemory(10);
    client = new Client();
  });

  const hold = (
    maxBytes = 100,
  ): { readonly body: HeldBody; readonly failure: Promise<HoldFailure | undefined> } => {
    const body = new HeldBody(client, maxBytes, memory, () => {});
    return { body, failure: body.collect() };
  };

  it("a held body is read whole, then sent at the pace of its sink, and frees its memory", async () => {
    const { body, failure } = hold();
    expect([client.say("abc"), client.say("def")]).to.deep.equal([true, true]);
    expect([memory.heldBytes, body.bytes]).to.deep.equal([6, undefined]);
    client.sink?.onEnd(undefined);
    expect(await failure).to.equal(undefined);
    expect([body.bytes?.toString(), body.length]).to.deep.equal(["abcdef", 6]);
    const sink = new Sink();
    body.start(sink);
    expect([sink.text, sink.ended, memory.heldBytes]).to.deep.equal(["abcdef", false, 0]);
    body.resume();
    body.resume();
    expect(sink.ended).to.equal(true);
  });

  it("a held body declares no length where trailers follow", async () => {
    const { body, failure } = hold();
    client.say("a");
    client.sink?.onEnd(["x-sum", "1"]);
    await failure;
    expect(body.length).to.equal(undefined);
  });

  it("a held body fails when it is too large, and accepts nothing more", async () => {
    const { body, failure } = hold(3);
    expect([client.say("abc"), client.say("d"), client.say("e")]).to.deep.equal([true, false, false]);
    client.sink?.onEnd(undefined);
    expect([await failure, body.bytes]).to.deep.equal(["too-large", undefined]);
  });

  it("a held body fails when all held bodies together are too large", async () => {
    const other = hold();
    client.say("12345678");
    const { body, failure } = hold();
    expect([client.say("abc"), await failure]).to.deep.equal([false, "no-memory"]);
    body.release();
    other.body.release();
    expect([await other.failure, memory.heldBytes]).to.deep.equal(["client-closed", 0]);
  });

  it("a held body reports why its client did not complete it", async () => {
    const { failure } = hold();
    client.sink?.onAbort("timeout");
    expect(await failure).to.equal("timeout");
  });
});
