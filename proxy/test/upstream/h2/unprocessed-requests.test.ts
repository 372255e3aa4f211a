import { expect } from "chai";
import { describeHttp2Codecs } from "../../http2-codecs.ts";
import { BufferBody } from "../../../src/auth/external-call.ts";
import type { UpstreamClient } from "../../../src/upstream/upstream.ts";
import { flags, frame, frameTypes, type RawPeer, uint32 } from "../../http/h2/frames.ts";
import { data, goaway, head, reset, settings } from "./server-frames.ts";
import { createClient, exchange, FedBody, type RawBackend, startRawBackend } from "./support.ts";

describeHttp2Codecs("HTTP/2 upstream client: requests that were not processed", (codec) => {
  let client: UpstreamClient;
  let backend: RawBackend;

  beforeEach(async () => {
    client = createClient();
    backend = await startRawBackend();
  });
  afterEach(async () => {
    client.close();
    await backend.close();
  });

  const serve = (peer: RawPeer, id = 1): void => peer.send(head(id), data(id, "served", flags.endStream));

  /** The next connection, which has a request by then. */
  const accept = async (): Promise<RawPeer> => {
    const peer = await backend.accept();
    peer.send(settings);
    await peer.ofType(frameTypes.headers);
    return peer;
  };

  it("a refused request is sent once more, on a new connection", async () => {
    const sent = exchange(client, backend.port, { method: "POST" });
    (await accept()).send(reset(1, 7));
    serve(await accept());
    const { body, connections } = await sent.settled;
    expect(body).to.equal("served");
    expect(connections).to.deep.equal([false, false]);
  });

  it("other requests continue on a connection that has refused one", async () => {
    const refused = exchange(client, backend.port);
    const first = await accept();
    first.send(reset(1, 7));
    const second = await accept();
    const other = exchange(client, backend.port);
    await first.frame((f) => f.type === frameTypes.headers && f.streamId === 3);
    serve(first, 3);
    serve(second);
    expect([(await other.settled).body, (await refused.settled).body]).to.deep.equal(["served", "served"]);
  });

  it("a refused request goes to another existing connection when no more may be opened", async () => {
    const limited = frame(frameTypes.settings, 0, 0, Buffer.concat([Buffer.of(0, 3), uint32(1)]));
    const sent: ReturnType<typeof exchange>[] = [];
    const peers: RawPeer[] = [];
    for (let index = 0; index < 8; index++) {
      sent.push(exchange(client, backend.port));
      const peer = await backend.accept();
      peers.push(peer);
      peer.send(limited);
      await peer.ofType(frameTypes.headers);
    }
    peers[0]?.send(reset(1, 7));
    await new Promise((resolve) => setImmediate(resolve));
    serve(peers[5] as RawPeer);
    await peers[5]?.frame((f) => f.type === frameTypes.headers && f.streamId === 3);
    serve(peers[5] as RawPeer, 3);
    expect((await sent[0]?.settled)?.body).to.equal("served");
    expect(peers[0]?.frames.filter(({ type }) => type === frameTypes.headers)).to.have.length(1);
  });

  it("the body of a refused request is sent again from its beginning", async () => {
    const body = new BufferBody(Buffer.from("all of it"));
    const sent = exchange(client, backend.port, { method: "POST", body });
    const sentBody = async (peer: RawPeer): Promise<string> => {
      const end = (f: { type: number; flags: number }): boolean =>
        f.type === frameTypes.data && (f.flags & 1) !== 0;
      await peer.frame(end);
      return Buffer.concat(
        peer.frames.filter((f) => f.type === frameTypes.data).map((f) => f.payload),
      ).toString();
    };
    const first = await accept();
    expect(await sentBody(first)).to.equal("all of it");
    first.send(reset(1, 7));
    const second = await accept();
    expect(await sentBody(second)).to.equal("all of it");
    serve(second);
    expect((await sent.settled).body).to.equal("served");
  });

  it("a request that is refused twice fails", async () => {
    const sent = exchange(client, backend.port);
    (await accept()).send(reset(1, 7));
    (await accept()).send(reset(1, 7));
    expect((await sent.settled).error).to.deep.include({ kind: "reset", requestSent: false });
  });

  it("a refused request whose body was started and not kept is not repeated", async () => {
    const body = new FedBody();
    const sent = exchange(client, backend.port, { method: "POST", body });
    const peer = await backend.accept();
    peer.send(settings);
    await body.whenStarted;
    await peer.ofType(frameTypes.headers);
    peer.send(reset(1, 7));
    expect((await sent.settled).error).to.deep.include({ kind: "reset", requestSent: false });
  });

  for (const code of [0, 11]) {
    it(`a request above the last stream of GOAWAY ${code} moves to a new connection`, async () => {
      const first = exchange(client, backend.port, { method: "POST" });
      const peer = await backend.accept();
      peer.send(settings);
      await peer.ofType(frameTypes.headers);
      const second = exchange(client, backend.port, { method: "POST" });
      await peer.frame((f) => f.type === frameTypes.headers && f.streamId === 3);
      peer.send(goaway(1, code));
      const replacement = await backend.accept();
      replacement.send(settings);
      await replacement.ofType(frameTypes.headers);
      serve(replacement);
      expect((await second.settled).body).to.equal("served");
      // Node gives a connection up whose server says that it has failed.
      if (code === 0 || codec === "native") {
        serve(peer);
        expect((await first.settled).body).to.equal("served");
      } else {
        expect((await first.settled).error?.kind).to.equal("reset");
      }
    });
  }

  it("an idempotent request on a lost reused connection is repeated, a POST is not", async () => {
    for (const method of ["GET", "POST"]) {
      const warm = exchange(client, backend.port);
      const peer = await backend.accept();
      peer.send(settings);
      await peer.ofType(frameTypes.headers);
      serve(peer);
      await warm.settled;
      const sent = exchange(client, backend.port, { method });
      await peer.frame((f) => f.type === frameTypes.headers && f.streamId === 3);
      peer.close();
      if (method === "GET") {
        const fresh = await backend.accept();
        fresh.send(settings);
        await fresh.ofType(frameTypes.headers);
        serve(fresh);
        expect((await sent.settled).body).to.equal("served");
      } else {
        expect((await sent.settled).error).to.deep.include({ kind: "reset", requestSent: true });
      }
      client.close();
      client = createClient();
    }
  });

  it("an idempotent request on a lost reused connection is repeated with a body that is kept, and only with such a one", async () => {
    for (const body of [new BufferBody(Buffer.from("all of it")), new FedBody()]) {
      const warm = exchange(client, backend.port);
      const peer = await accept();
      serve(peer);
      await warm.settled;
      const sent = exchange(client, backend.port, { method: "PUT", body });
      await peer.frame((f) => f.type === frameTypes.headers && f.streamId === 3);
      if (body instanceof FedBody) body.data("some");
      await peer.frame((f) => f.type === frameTypes.data && f.streamId === 3);
      peer.close();
      if (body instanceof BufferBody) {
        const fresh = await accept();
        await fresh.frame((f) => f.type === frameTypes.data && (f.flags & flags.endStream) !== 0);
        const content = fresh.frames.filter((f) => f.type === frameTypes.data).map((f) => f.payload);
        expect(Buffer.concat(content).toString()).to.equal("all of it");
        serve(fresh);
        expect((await sent.settled).body).to.equal("served");
      } else {
        expect((await sent.settled).error).to.deep.include({ kind: "reset", requestSent: true });
      }
      client.close();
      client = createClient();
    }
  });

  it("a request after a GOAWAY on an idle connection uses a new one", async () => {
    const warm = exchange(client, backend.port);
    const peer = await backend.accept();
    peer.send(settings);
    await peer.ofType(frameTypes.headers);
    serve(peer);
    await warm.settled;
    peer.send(goaway(1, 0));
    await peer.when(() => (peer.frames.some((f) => f.type === frameTypes.goaway) ? true : undefined));
    const sent = exchange(client, backend.port, { method: "POST" });
    const fresh = await backend.accept();
    fresh.send(settings);
    await fresh.ofType(frameTypes.headers);
    serve(fresh);
    expect((await sent.settled).connections).to.deep.equal([false]);
  });
});
