import { once } from "node:events";
import { expect } from "chai";
import { eventually } from "../http/h1/harness.ts";
import { describeSocketLayers, socketLayer } from "../socket-layers.ts";
import { collect, Record, transportBench, turns } from "./transport-bench.ts";

describeSocketLayers("the receivers of a transport", () => {
  const { accept, take } = transportBench();

  for (const when of ["between two reads", "from within a read"]) {
    it(`a transport that gets another receiver ${when} goes on for it in both directions, half-closes included`, async () => {
      const { client, transport, record } = await take();
      const received = collect(client);
      const next = new Record();
      const passOn = (): void => {
        transport.writeText("101 ");
        transport.start(next);
      };
      if (when === "from within a read") record.onPiece = passOn;
      client.write("head");
      await eventually(() => record.text === "head");
      if (when === "between two reads") passOn();
      client.write("message");
      await eventually(() => next.text === "message");
      transport.writeText("answer");
      await eventually(() => received() === "101 answer");
      let isClosed = false;
      transport.whenClosed(() => (isClosed = true));
      expect(transport.ended).to.equal(false);
      client.end("bye");
      await eventually(() => next.events.includes("ended"));
      expect([next.text, record.text, transport.ended]).to.deep.equal(["messagebye", "head", true]);
      transport.writeText("end");
      transport.end();
      await eventually(() => isClosed && client.readableEnded);
      expect(next.events).to.deep.equal(["ended", "closed"]);
      expect(record.events).to.deep.equal([]);
      expect(received()).to.equal("101 answerend");
    });
  }

  it("a transport that is paused when it gets another receiver reads for it", async () => {
    const { client, transport } = await take();
    transport.pause();
    client.write("message");
    const next = new Record();
    transport.start(next);
    await eventually(() => next.text === "message");
  });

  it("a transport passes on the bytes that were put back before an end that was read with them", async () => {
    const { client, socket } = await accept();
    client.end("all");
    await once(socket, "readable");
    socket.unshift(socket.read() as Buffer);
    // The end has been read as well.
    await eventually(
      () => (socket as unknown as { _readableState: { ended: boolean } })._readableState.ended,
    );
    const transport = socketLayer().take(socket);
    const record = new Record();
    let textAtEnd = "";
    record.ended = () => {
      textAtEnd = record.text;
      record.events.push("ended");
    };
    transport.start(record);
    transport.pause();
    await turns();
    expect([record.events, transport.ended]).to.deep.equal([[], false]);
    transport.resume();
    await eventually(() => record.events.includes("ended"));
    expect([textAtEnd, transport.ended]).to.deep.equal(["all", true]);
  });
});
