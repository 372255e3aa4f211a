import type { Socket } from "node:net";
import { expect } from "chai";
import { Fields } from "../../../src/message/fields.ts";
import type { ClientStream, HeaderList, ResponseHead } from "../../../src/message/message.ts";
import { handleOf, type StreamHandle } from "../../../src/sockets/handles/internals.ts";
import { describeCodecs } from "../../http1-codecs.ts";
import {
  answer,
  bodyOf,
  eventually,
  headOf,
  type RawClient,
  startFront,
  statusesOf,
  stopAll,
} from "./harness.ts";

const head = (fields: HeaderList = [], overrides: Partial<ResponseHead> = {}): ResponseHead => ({
  status: 200,
  headers: Fields.of(fields),
  length: undefined,
  bodyless: false,
  ...overrides,
});

describeCodecs("the HTTP/1 front: responses", () => {
  afterEach(stopAll);

  /** Sends one request and passes its client stream to `respond`. */
  const ask = async (
    respond: (client: ClientStream) => void,
    request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
  ): Promise<{
    readonly client: RawClient;
    readonly sockets: readonly Socket[];
    readonly reasons: () => string[];
  }> => {
    const { connect, sockets, events } = await startFront((_, _head, stream) => respond(stream));
    const client = await connect();
    client.send(request);
    return { client, sockets, reasons: () => events.map((event) => event.reason) };
  };

  describe("framing", () => {
    it("a response with a Content-Length is relayed unchanged, without a Connection field", async () => {
      const { client } = await ask((stream) => {
        stream.sendHead(head(["X-A", "1", "content-length", "5", "X-A", "2"], { length: 5 }));
        stream.write("hello");
        stream.end(undefined);
      });
      const text = await client.until(/hello$/);
      expect(headOf(text).replace(/\r\nDate: [^\r]+/, "")).to.equal(
        "HTTP/1.1 200 OK\r\nX-A: 1\r\ncontent-length: 5\r\nX-A: 2",
      );
      expect(client.ended).to.equal(false);
    });

    it("a length without a Content-Length field is sent as Content-Length", async () => {
      const { client } = await ask((stream) => {
        stream.sendHead(head([], { length: 5 }));
        stream.write("hello");
        stream.end(undefined);
      });
      expect(await client.until(/hello$/)).to.match(/\r\nContent-Length: 5\r\n/);
    });

    it("a response of unknown length is sent in chunks to HTTP/1.1", async () => {
      const { client } = await ask((stream) => {
        stream.sendHead(head(["Content-Length", "99"]));
        stream.write("hello");
        stream.write(Buffer.from(" world"));
        stream.end(undefined);
      });
      const text = await client.until(/0\r\n\r\n$/);
      expect(headOf(text)).to.match(/\r\nTransfer-Encoding: chunked$/);
      expect(text).not.to.match(/Content-Length/);
      expect(bodyOf(text)).to.equal("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n");
    });

    it("trailers are sent after the last chunk", async () => {
      const { client } = await ask((stream) => {
        stream.sendHead(head());
        stream.write("hello");
        stream.end(["grpc-status", "0", "X-T", "a", "X-T", "b"]);
      });
      expect(bodyOf(await client.until(/\r\n\r\n$/))).to.equal(
        "5\r\nhello\r\n0\r\ngrpc-status: 0\r\nX-T: a\r\nX-T: b\r\n\r\n",
      );
    });

    for (const status of [204, 304]) {
      it(`a response with status ${status} has no body or chunks, and the connection is kept`, async () => {
        const { client } = await ask((stream) => {
          stream.sendHead(head(["ETag", '"1"'], { status, bodyless: true, length: 0 }));
          stream.end(undefined);
        }, "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
        const text = await client.until(/ETag[^]*ETag[^]*\r\n\r\n$/);
        expect(statusesOf(text)).to.deep.equal([String(status), String(status)]);
        expect(text).not.to.match(/Content-Length|Transfer-Encoding|Connection/);
      });
    }

    it("a 204 response is sent without Content-Length", async () => {
      const { client } = await ask((stream) => {
        stream.sendHead(head(["Content-Length", "0"], { status: 204, bodyless: true, length: 0 }));
        stream.end(undefined);
      });
      expect(await client.until(/\r\n\r\n$/)).not.to.match(/Content-Length/);
    });

    it("the Content-Length of a HEAD response and of a 304 is relayed", async () => {
      for (const [method, status] of [
        ["HEAD", 200],
        ["GET", 304],
      ] as const) {
        const { client } = await ask((stream) => {
          stream.sendHead(head(["Content-Length", "1000"], { status, bodyless: true, length: 1000 }));
          stream.end(undefined);
        }, `${method} / HTTP/1.1\r\nHost: a\r\n\r\n`);
        const text = await client.until(/\r\n\r\n/);
        expect(text).to.match(/\r\nContent-Length: 1000\r\n/);
        expect(bodyOf(text)).to.equal("");
      }
    });

    it("a HEAD response without length is a head alone", async () => {
      const { client } = await ask((stream) => {
        stream.sendHead(head([], { bodyless: true }));
        stream.end(undefined);
      }, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\nHEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
      const text = await client.until(/200[^]*200[^]*\r\n\r\n$/);
      expect(text).not.to.match(/0\r\n\r\n$/);
    });

    it("the bytes of a Content-Disposition are kept after a Content-Length", async () => {
      const { client } = await ask((stream) => {
        const value = 'attachment; filename="\xc3\xa9.txt"';
        stream.sendHead(head(["Content-Length", "5", "Content-Disposition", value], { length: 5 }));
        stream.write("hello");
        stream.end(undefined);
      });
      const text = await client.until(/hello$/);
      expect(text).to.contain('filename="\xc3\xa9.txt"');
      expect(text).to.match(/\r\nContent-Length: 5\r\n/);
    });
  });

  describe("to HTTP/1.0", () => {
    it("an HTTP/1.0 connection is closed after a response with a length", async () => {
      const { client } = await ask((stream) => answer(stream), "GET / HTTP/1.0\r\n\r\n");
      const text = await client.untilEnd();
      expect(text).to.match(/^HTTP\/1\.1 200 OK\r\n[^]*\r\nConnection: close\r\n[^]*hello$/);
    });

    it("an HTTP/1.0 connection with keep-alive is kept when the length is known", async () => {
      const request = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
      const { client } = await ask((stream) => answer(stream), request + request);
      const text = await client.until(/hello[^]*hello$/);
      expect(text.match(/\r\nConnection: keep-alive\r\n/g)).to.have.length(2);
    });

    it("an HTTP/1.0 response of unknown length ends with the connection, never with chunks", async () => {
      const { client } = await ask((stream) => {
        stream.sendHead(head());
        stream.write("hello");
        stream.end(["X-T", "a"]);
      }, "GET / HTTP/1.0\r\nConnection: keep-alive\r\nTE: chunked\r\n\r\n");
      const text = await client.untilEnd();
      expect(text).not.to.match(/Transfer-Encoding|X-T/);
      expect(text).to.match(/\r\nConnection: close\r\n/);
      expect(bodyOf(text)).to.equal("hello");
      expect(client.errorCode).to.equal(undefined);
    });

    it("an HTTP/1.0 connection is reset when a body of unknown length breaks off", async () => {
      const { client } = await ask((stream) => {
        stream.sendHead(head());
        stream.write("hel");
        setImmediate(() => stream.abort());
      }, "GET / HTTP/1.0\r\n\r\n");
      await eventually(() => client.closed || client.ended);
      expect(client.errorCode).to.equal("ECONNRESET");
    });

    it("an HTTP/1.0 client gets no interim responses", async () => {
      const { client } = await ask((stream) => {
        stream.sendInformational(103, ["Link", "</a>"]);
        answer(stream);
      }, "GET / HTTP/1.0\r\n\r\n");
      expect(statusesOf(await client.untilEnd())).to.deep.equal(["200"]);
    });
  });

  describe("what the client must see as broken", () => {
    it("a response body shorter than its length ends the connection", async () => {
      const { client, reasons } = await ask((stream) => {
        stream.sendHead(head(["Content-Length", "10"], { length: 10 }));
        stream.write("hello");
        setImmediate(() => stream.end(undefined));
      });
      const text = await client.untilEnd();
      expect(bodyOf(text)).to.equal("hello");
      expect(reasons()).to.deep.equal(["broken-response"]);
    });

    it("a response body longer than its length is cut at that length and breaks the connection", async () => {
      let failure: string | undefined;
      const { client, reasons } = await ask((stream) => {
        stream.onClose = (reason) => {
          failure = reason;
        };
        stream.sendHead(head(["Content-Length", "5"], { length: 5 }));
        stream.write("hello");
        setImmediate(() => stream.write(" world"));
      });
      expect(bodyOf(await client.untilEnd())).to.equal("hello");
      expect(reasons()).to.deep.equal(["broken-response"]);
      expect(failure).to.equal("broken-response");
    });

    it("a chunked response that is aborted ends without the last chunk", async () => {
      const { client } = await ask((stream) => {
        stream.sendHead(head());
        stream.write("hello");
        setImmediate(() => stream.abort());
      });
      expect(bodyOf(await client.untilEnd())).to.equal("5\r\nhello\r\n");
    });

    it("a response that is aborted before its head sends nothing", async () => {
      const { client } = await ask((stream) => stream.abort());
      expect(await client.untilEnd()).to.equal("");
    });

    for (const value of ["a\r\nX-Evil: 1", "a\nb", "a\0b", "\u010a\u010d"]) {
      it(`a response head with the field value ${JSON.stringify(value)} is not sent`, async () => {
        const { client, reasons } = await ask((stream) => {
          stream.sendHead(head(["X-A", value], { length: 0 }));
          stream.end(undefined);
        });
        expect(await client.untilEnd()).to.equal("");
        expect(reasons()).to.deep.equal(["broken-response"]);
      });
    }

    it("trailers that are no field lines are not sent, and the chunks do not end", async () => {
      const { client, reasons } = await ask((stream) => {
        stream.sendHead(head());
        stream.write("hello");
        setImmediate(() => stream.end(["X", "a\r\nY: b"]));
      });
      expect(bodyOf(await client.untilEnd())).to.equal("5\r\nhello\r\n");
      expect(reasons()).to.deep.equal(["broken-response"]);
    });
  });

  it("interim responses are relayed before the final response only", async () => {
    const { client } = await ask((stream) => {
      stream.sendInformational(103, ["Link", "</a>; rel=preload"]);
      stream.sendInformational(101, []);
      stream.sendInformational(102, []);
      answer(stream);
      stream.sendInformational(103, []);
    });
    const text = await client.until(/hello$/);
    expect(statusesOf(text)).to.deep.equal(["103", "102", "200"]);
    expect(text).to.match(/^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a>; rel=preload\r\n\r\nHTTP\/1\.1 102 /);
  });

  it("the Date of the upstream is kept, and a response without Date gets one", async () => {
    const { client } = await ask((stream) => answer(stream, "hello", ["date", "yesterday"]));
    expect((await client.until(/hello$/)).match(/\r\ndate: /gi)).to.have.length(1);
    expect(client.text).to.match(/\r\ndate: yesterday\r\n/);
    const other = await ask((stream) => answer(stream));
    expect(await other.client.until(/hello$/)).to.match(/\r\nDate: \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT\r\n/);
  });

  it("a response that is to close the connection carries Connection: close", async () => {
    const { client } = await ask((stream) => {
      stream.closeAfterResponse();
      answer(stream);
    });
    expect(await client.untilEnd()).to.match(/\r\nConnection: close\r\n[^]*hello$/);
  });

  it("the connection is closed after a response when that is requested after its head was sent", async () => {
    const { client } = await ask((stream) => {
      stream.sendHead(head([], { length: 5 }));
      setImmediate(() => {
        stream.closeAfterResponse();
        stream.write("hello");
        stream.end(undefined);
      });
    });
    expect(await client.untilEnd()).to.match(/hello$/);
  });

  it("a request with Connection: close closes the connection after its response", async () => {
    const { client } = await ask(
      (stream) => answer(stream),
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    );
    expect(await client.untilEnd()).to.match(/\r\nConnection: close\r\n[^]*hello$/);
  });

  it("a small response is written to the socket in one piece, also when it follows later in the turn", async () => {
    let pieces = 0;
    const { connect, sockets } = await startFront((_, _head, stream) => {
      const handle = handleOf(sockets[0] as Socket) as StreamHandle;
      for (const call of ["writeLatin1String", "writeBuffer", "writev"] as const) {
        const write = handle[call].bind(handle) as (...all: unknown[]) => number;
        handle[call] = (...all: unknown[]) => {
          pieces++;
          return write(...all);
        };
      }
      stream.sendHead(head(["Content-Length", "5"], { length: 5 }));
      stream.write("hello");
      stream.end(undefined);
    });
    const client = await connect();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await client.until(/hello$/);
    expect(pieces).to.equal(1);
  });

  it("a response head without data is sent at the end of the turn", async () => {
    let finish = (): void => {};
    const { client } = await ask((stream) => {
      stream.sendHead(head());
      finish = () => stream.end(undefined);
    });
    await client.until(/\r\n\r\n$/);
    finish();
    await client.until(/\r\n\r\n0\r\n\r\n$/);
  });

  it("data that follows a response head in the same turn is sent at the end of the turn", async () => {
    let finish = (): void => {};
    const { client } = await ask((stream) => {
      stream.sendHead(head());
      stream.write("event");
      finish = () => stream.end(undefined);
    });
    await client.until(/5\r\nevent\r\n$/);
    finish();
    await client.until(/0\r\n\r\n$/);
  });

  it("a client stream counts the bytes of the response body", async () => {
    let stream: ClientStream | undefined;
    const { client } = await ask((given) => {
      stream = given;
      given.sendHead(head());
      given.write("hello");
      given.write(Buffer.from("world"));
      given.end(undefined);
    });
    await client.until(/0\r\n\r\n$/);
    expect(stream?.bytesSent).to.equal(10);
    expect(stream?.headSent).to.equal(true);
  });

  it("response bytes are written to the socket at once, and pendingBytes counts those that the client does not read", async () => {
    let stream: ClientStream | undefined;
    const { client } = await ask((given) => {
      stream = given;
      given.sendHead(head());
      expect(given.write(Buffer.from("first"))).to.equal(true);
      expect(given.pendingBytes).to.equal(0);
    });
    await client.until(/first\r\n$/);
    client.socket.pause();
    const piece = Buffer.alloc(1_000_000, "x");
    let pieces = 0;
    while (stream?.write(piece) === true) pieces++;
    expect(stream?.pendingBytes).to.be.at.least(piece.length);
    const drained = new Promise<void>((resolve) => {
      if (stream !== undefined) stream.onDrain = resolve;
    });
    client.socket.resume();
    await drained;
    expect(stream?.pendingBytes).to.equal(0);
    stream?.end(undefined);
    await client.until(/0\r\n\r\n$/);
    expect(bodyOf(client.text).length).to.be.above(pieces * piece.length);
  });

  it("a client stream ignores calls after the end of the response", async () => {
    const { client } = await ask((stream) => {
      answer(stream);
      stream.sendHead(head());
      expect(stream.write("more")).to.equal(false);
      stream.end(undefined);
      stream.abort();
    }, "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(statusesOf(await client.until(/hello[^]*hello$/))).to.deep.equal(["200", "200"]);
  });
});
