import { describeHttp2Codecs } from "../../http2-codecs.ts";
import { connect } from "node:net";
import { expect } from "chai";
import {
  field,
  flags,
  frame,
  frameTypes,
  RawPeer,
  rawClient,
  requestBlock,
  requestFrame,
  uint32,
} from "./frames.ts";
import { postFrame, usePeerOnFront } from "./peer-on-front.ts";
import { reply } from "./support.ts";

const protocolError = 1;
const internalError = 2;
const streamClosed = 5;

describeHttp2Codecs("HTTP/2 front: malformed messages", (codec) => {
  const front = usePeerOnFront(codec);

  describe("malformed messages reset their stream only", () => {
    const malformed: Record<string, readonly (readonly [string, string])[]> = {
      "an upper-case name": [["Foo", "x"]],
      Connection: [["connection", "x"]],
      "Transfer-Encoding": [["transfer-encoding", "chunked"]],
      "Keep-Alive": [["keep-alive", "x"]],
      "Proxy-Connection": [["proxy-connection", "x"]],
      Upgrade: [["upgrade", "x"]],
      "TE other than trailers": [["te", "gzip"]],
      "a pseudo-field after fields": [
        ["a", "b"],
        [":path", "/x"],
      ],
      "an unknown pseudo-field": [[":foo", "x"]],
      "a repeated pseudo-field": [[":path", "/x"]],
      "extended CONNECT": [[":protocol", "websocket"]],
      "two Content-Length": [
        ["content-length", "1"],
        ["content-length", "1"],
      ],
      "a Content-Length that is no number": [["content-length", "1x"]],
      "a Content-Length of a list": [["content-length", "1, 1"]],
    };
    for (const [name, fields] of Object.entries(malformed)) {
      it(`an HTTP/2 request with ${name} is malformed and resets its stream only`, async () => {
        front.peer.send(
          requestFrame(1, { end: false, method: "POST", fields }),
          requestFrame(3, { end: true }),
        );
        expect(await front.peer.resetCode(1)).to.equal(protocolError);
        const { client } = await front.server.next();
        reply(client, "alive");
        await front.peer.frame((f) => f.type === frameTypes.data && f.streamId === 3);
        expect(front.server.requests).to.have.length(1);
      });
    }

    const addresses: Record<string, readonly (readonly [string, string])[]> = {
      "no :authority and no Host": [],
      "an empty :authority": [[":authority", ""]],
      "userinfo in :authority": [[":authority", "user:secret@a.test"]],
      "a path in :authority": [[":authority", "a.test/b"]],
      "a space in Host": [["host", "a b"]],
      "userinfo in Host": [["host", "user@a.test"]],
      "two Host": [
        ["host", "a"],
        ["host", "b"],
      ],
    };
    for (const [name, fields] of Object.entries(addresses)) {
      it(`an HTTP/2 request with ${name} is not served, ${codec === "node" ? "and reset" : "and answered 400"}`, async () => {
        const pseudo = [
          [":method", "GET"],
          [":scheme", "http"],
          [":path", "/"],
        ] as const;
        const block = Buffer.concat([...pseudo, ...fields].map((one) => field(...one)));
        front.peer.send(frame(frameTypes.headers, flags.endHeaders | flags.endStream, 1, block));
        if (codec === "node") expect(await front.peer.resetCode(1)).to.equal(protocolError);
        else {
          const body = await front.peer.frame((f) => f.type === frameTypes.data && f.streamId === 1);
          expect(body.payload.toString()).to.equal("400 Bad Request\n");
        }
        await front.isAlive();
        expect(front.server.requests).to.deep.equal([]);
      });
    }

    for (const [name, data, end] of [
      ["more DATA than Content-Length", "xyz", false],
      ["more DATA than Content-Length at the end", "xyz", true],
      ["less DATA than Content-Length", "x", true],
    ] as const) {
      it(`an HTTP/2 request body with ${name} is malformed and resets its stream only`, async () => {
        front.peer.send(postFrame(1, [["content-length", "2"]]), requestFrame(3, { end: true }));
        const { client } = await front.server.next();
        const other = await front.server.next();
        let aborted: string | undefined;
        const closed = new Promise((resolve) => (client.onClose = resolve));
        client.body?.start({
          onData: () => true,
          onEnd: () => expect.fail("clean end"),
          onAbort: (reason) => (aborted = reason),
        });
        front.peer.send(frame(frameTypes.data, end ? flags.endStream : 0, 1, Buffer.from(data)));
        expect(await front.peer.resetCode(1)).to.equal(protocolError);
        await closed;
        expect(aborted).to.equal("malformed");
        reply(other.client, "alive");
        await front.peer.frame((f) => f.type === frameTypes.data && f.streamId === 3);
      });
    }

    it("an HTTP/2 request with a Content-Length and no body is malformed", async () => {
      front.peer.send(requestFrame(1, { end: true, fields: [["content-length", "1"]] }));
      expect(await front.peer.resetCode(1)).to.equal(protocolError);
      await front.isAlive();
    });

    it("a pseudo-field in HTTP/2 trailers is malformed", async () => {
      front.peer.send(
        postFrame(1),
        frame(frameTypes.headers, flags.endHeaders | flags.endStream, 1, field(":path", "/")),
      );
      expect(await front.peer.resetCode(1)).to.equal(protocolError);
      await front.isAlive();
    });

    it("a Host in HTTP/2 trailers is left to the pipeline, which drops it", async () => {
      front.peer.send(
        postFrame(1),
        frame(frameTypes.headers, flags.endHeaders | flags.endStream, 1, field("host", "b")),
      );
      const { client } = await front.server.next();
      const trailers = await new Promise((resolve) => {
        client.body?.start({ onData: () => true, onEnd: resolve, onAbort: resolve });
      });
      expect(trailers).to.deep.equal(["host", "b"]);
      reply(client, "ok");
    });

    it(`a field whose value has a control character ${codec === "node" ? "is dropped" : "resets its stream"}`, async () => {
      for (const [at, value] of ["x\0y", "x\ry", "x\ny", "x\x01y", "x\x7fy"].entries()) {
        const id = 2 * at + 1;
        const fields = [
          ["a", value],
          ["b", "1"],
        ] as const;
        front.peer.send(requestFrame(id, { end: true, fields }));
        if (codec === "node")
          expect((await front.server.next()).head.headers.toList()).to.deep.equal(["b", "1"]);
        else expect(await front.peer.resetCode(id)).to.equal(protocolError);
      }
      if (codec === "native") expect(front.server.requests).to.deep.equal([]);
    });

    if (codec === "native") {
      // Node relays or drops these.
      const stricter: Record<string, readonly (readonly [string, string])[]> = {
        "white space before a value": [["a", " x"]],
        "white space behind a value": [["a", "x\t"]],
        "an empty name": [["", "x"]],
        "a name with a control character": [["a\x01", "x"]],
      };
      for (const [name, fields] of Object.entries(stricter)) {
        it(`the native HTTP/2 codec rejects a request with ${name}`, async () => {
          front.peer.send(requestFrame(1, { end: true, fields }), requestFrame(3, { end: true }));
          expect(await front.peer.resetCode(1)).to.equal(protocolError);
          await front.server.next();
          expect(front.server.requests).to.have.length(1);
        });
      }
    }
  });

  describe("broken framing ends the connection with the right code", () => {
    const broken: Record<string, readonly [number, () => Buffer[]]> = {
      "an even stream id": [protocolError, () => [requestFrame(2, { end: true })]],
      "DATA on an idle stream": [protocolError, () => [frame(frameTypes.data, 0, 5, Buffer.from("x"))]],
      "RST_STREAM on an idle stream": [protocolError, () => [frame(frameTypes.rstStream, 0, 5, uint32(8))]],
      "WINDOW_UPDATE of 0": [protocolError, () => [frame(frameTypes.windowUpdate, 0, 0, uint32(0))]],
      ...(codec === "node" && {
        "unsolicited SETTINGS acknowledgement": [
          protocolError,
          () => [frame(frameTypes.settings, flags.ack, 0), frame(frameTypes.settings, flags.ack, 0)],
        ] as const,
      }),
      "a window overflow": [3, () => [frame(frameTypes.windowUpdate, 0, 0, uint32(0x7fffffff))]],
      "DATA after END_STREAM": [
        streamClosed,
        () => [requestFrame(1, { end: true }), frame(frameTypes.data, 1, 1, Buffer.from("x"))],
      ],
      "HEADERS after END_STREAM": [
        streamClosed,
        () => [requestFrame(1, { end: true }), requestFrame(1, { end: true })],
      ],
      PUSH_PROMISE: [
        protocolError,
        () => [frame(frameTypes.pushPromise, 4, 1, Buffer.concat([uint32(2), field("a", "b")]))],
      ],
      "a frame larger than announced": [6, () => [frame(frameTypes.data, 0, 1, Buffer.alloc(16_385))]],
      "a block interrupted by another frame": [
        protocolError,
        () => [
          frame(frameTypes.headers, 1, 1, requestBlock("GET")),
          frame(frameTypes.ping, 0, 0, Buffer.alloc(8)),
        ],
      ],
      "a compression error": [
        9,
        () => [frame(frameTypes.headers, 5, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, 0x7f]))],
      ],
    };
    for (const [name, [code, build]] of Object.entries(broken)) {
      it(`an HTTP/2 connection with ${name} ends with the right error code`, async () => {
        front.peer.send(...build());
        expect(await front.peer.goawayCode()).to.equal(code);
      });
    }

    it("a connection without the HTTP/2 preface is closed", async () => {
      const other = rawClient(front.server.port);
      other.close();
      const stranger = new RawPeer(connect(front.server.port, "127.0.0.1"), { asServer: false });
      stranger.send(Buffer.from("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
      expect(await stranger.goawayCode()).to.be.oneOf([undefined, protocolError, internalError]);
      expect(front.server.requests).to.have.length(0);
    });
  });
});
