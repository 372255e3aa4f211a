import { expect } from "chai";
import { holdClock } from "../held-clock.ts";
import { describeCodecs } from "../../http1-codecs.ts";
import { answer, eventually, type FrontUnderTest, startFront, statusesOf, stopAll } from "./harness.ts";

describeCodecs("the HTTP/1 front after a time without connections", () => {
  const clock = holdClock();
  afterEach(stopAll);

  /** A front that has had no connections for an hour. */
  async function startIdle(): Promise<FrontUnderTest> {
    const started = await startFront(
      (_, _head, client) => {
        if (client.body === null) return answer(client);
        client.body.start({
          onData: () => true,
          onEnd: () => answer(client),
          onAbort: (reason) => answer(client, reason),
        });
      },
      { headerTimeoutMs: 1000, bodyTimeoutMs: 1000, idleTimeoutMs: 1000 },
    );
    const first = await started.connect();
    first.socket.end();
    await first.untilEnd();
    await eventually(() => started.front.connections === 0);
    clock.advance(3_600_000);
    return started;
  }

  it("a new connection gets its full header timeout after an hour without connections", async () => {
    const { connect, swept } = await startIdle();
    const client = await connect();
    await swept();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(statusesOf(await client.until(/hello$/))).to.deep.equal(["200"]);
  });

  it("a new request gets its full body timeout after an hour without connections", async () => {
    const { connect, swept } = await startIdle();
    const client = await connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbo");
    await swept();
    client.send("dy");
    expect(statusesOf(await client.until(/hello$|timeout$/))).to.deep.equal(["200"]);
    expect(client.text).to.match(/hello$/);
  });
});
