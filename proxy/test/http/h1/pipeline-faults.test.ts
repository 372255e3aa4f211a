import { expect } from "chai";
import type { ClientStream } from "../../../src/message/message.ts";
import { holdClock } from "../held-clock.ts";
import { describeCodecs } from "../../http1-codecs.ts";
import { answer, eventually, startManual, statusesOf, stopAll } from "./harness.ts";

const request = "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n";
const chunked = "POST /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

describeCodecs("the HTTP/1 front: faults behind a request that is being answered", (codec) => {
  // Stopped, because a client that has ended its side is otherwise probed after a while.
  holdClock();
  afterEach(stopAll);

  /** Sends everything in one piece, ends the sending side, and answers the first request once all of it has arrived. */
  async function play(bytes: string): Promise<{ statuses: readonly string[]; served: number }> {
    const { connect, streams, events } = await startManual();
    const client = await connect();
    client.socket.end(bytes, "latin1");
    await eventually(() => streams.length === 1);
    answer(streams[0] as ClientStream);
    const statuses = statusesOf(await client.untilEnd());
    expect(events.every(({ reason }) => reason !== "idle-timeout" && reason !== "body-timeout")).to.equal(
      true,
    );
    return { statuses, served: streams.length };
  }

  it("a waiting request with malformed chunks gets 400 and does not reach the handler", async () => {
    const { statuses, served } = await play(`${request}${chunked}g\r\nabc\r\n0\r\n\r\n`);
    expect(statuses).to.deep.equal(["200", "400"]);
    expect(served).to.equal(1);
  });

  it("a waiting request whose trailers declare a Content-Length gets 400", async () => {
    const { statuses, served } = await play(
      `${request}${chunked}3\r\nabc\r\n0\r\nContent-Length: 5\r\n\r\n${request}`,
    );
    expect(statuses).to.deep.equal(["200", "400"]);
    expect(served).to.equal(1);
  });

  it("a waiting request that the client left incomplete gets no response", async () => {
    const { statuses } = await play(`${request}${chunked}3\r\nab`);
    expect(statuses).to.deep.equal(["200"]);
  });

  it("bytes that are no request are rejected even when the client has ended its side", async () => {
    const { statuses, served } = await play(`${request}b@d\r\n\r\n`);
    // Not a token for the native codec; for Node's an unknown method already at its first letter.
    expect(statuses).to.deep.equal(["200", codec === "native" ? "400" : "501"]);
    expect(served).to.equal(1);
  });

  it("the connection is closed after the last response of a pipeline whose client has ended its side", async () => {
    const { connect, streams, front } = await startManual();
    const client = await connect();
    client.socket.end(request + request);
    for (const turn of [0, 1]) {
      await eventually(() => streams.length > turn);
      answer(streams[turn] as ClientStream);
    }
    expect(statusesOf(await client.untilEnd())).to.deep.equal(["200", "200"]);
    await eventually(() => front.connections === 0);
  });
});
