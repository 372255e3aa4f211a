import { expect } from "chai";
import fc from "fast-check";
import { peekClientHello } from "../../src/tls/client-hello.ts";
import { capturedHello } from "./harness.ts";

/** The same handshake bytes in records of at most `size` bytes. */
function inRecords(hello: Buffer, size: number): Buffer {
  const message = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const fragment = message.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, fragment.length >> 8, fragment.length & 255]), fragment);
  }
  return Buffer.concat(records);
}

describe("the peek at a ClientHello", () => {
  let named: Buffer;
  let nameless: Buffer;

  before(async () => {
    named = await capturedHello({ servername: "Some.Host.Example" });
    nameless = await capturedHello({ maxVersion: "TLSv1.2" });
  });

  it("the server name of a ClientHello is read in lower case", () => {
    expect(peekClientHello(named)).to.deep.equal({ kind: "hello", serverName: "some.host.example" });
  });

  it("a ClientHello without a server name has an empty one", () => {
    expect(peekClientHello(nameless)).to.deep.equal({ kind: "hello", serverName: "" });
  });

  it("a trailing dot of the server name is removed", async () => {
    const dotted = Buffer.from(named);
    dotted.write("some.host.exampl.", dotted.indexOf("Some.Host.Example"), "latin1");
    expect(peekClientHello(dotted)).to.deep.equal({ kind: "hello", serverName: "some.host.exampl" });
  });

  it("an incomplete ClientHello needs more bytes", () => {
    for (let length = 0; length < named.length; length++) {
      expect(peekClientHello(named.subarray(0, length)).kind, `${length} bytes`).to.equal("incomplete");
    }
  });

  it("a ClientHello in many records of any size is read", () => {
    for (const size of [1, 2, 3, 50, 200]) {
      const records = inRecords(named, size);
      expect(peekClientHello(records), `records of ${size}`).to.deep.equal({
        kind: "hello",
        serverName: "some.host.example",
      });
      expect(peekClientHello(records.subarray(0, -1)).kind).to.equal("incomplete");
    }
  });

  it("bytes that follow the ClientHello are ignored", () => {
    const alone = peekClientHello(named);
    // A client that resumes a session may send data, or a change of ciphers, together with it (RFC 8446 2.3 and D.4).
    for (const next of [
      named,
      Buffer.from([20, 3, 3, 0, 1, 1]),
      Buffer.from([23, 3, 3, 0, 1, 1]),
      Buffer.of(0),
    ]) {
      expect(peekClientHello(Buffer.concat([named, next]))).to.deep.equal(alone);
    }
  });

  for (const [name, bytes] of [
    ["an HTTP request", Buffer.from("GET / HTTP/1.1\r\n")],
    ["another record type", Buffer.from([23, 3, 3, 0, 1, 0])],
    ["another major version", Buffer.from([22, 2, 0, 0, 1, 1])],
    ["another handshake message", Buffer.from([22, 3, 3, 0, 4, 2, 0, 0, 0])],
    ["an empty record", Buffer.from([22, 3, 3, 0, 0])],
    ["an overlong record", Buffer.from([22, 3, 3, 255, 255])],
    ["an overlong message", Buffer.from([22, 3, 3, 0, 4, 1, 1, 0, 0])],
    ["an empty message", Buffer.from([22, 3, 3, 0, 4, 1, 0, 0, 0])],
  ] as const) {
    it(`${name} is not taken for a ClientHello`, () => {
      expect(peekClientHello(bytes).kind).to.equal("other");
    });
  }

  it("a ClientHello whose server name is no host name is left to TLS", () => {
    const strange = Buffer.from(named);
    strange.write("Some\0Host", strange.indexOf("Some.Host"), "latin1");
    expect(peekClientHello(strange).kind).to.equal("other");
  });

  it("a ClientHello of more than 16 KiB is left to TLS", () => {
    const endless = inRecords(
      Buffer.concat([Buffer.alloc(5), Buffer.from([1, 0, 0x3f, 0]), Buffer.alloc(16_000)]),
      100,
    );
    expect(peekClientHello(endless.subarray(0, 16_383)).kind).to.equal("incomplete");
    expect(peekClientHello(endless.subarray(0, 16_384)).kind).to.equal("other");
  });

  it("any bytes are read as a ClientHello without an exception", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        peekClientHello(Buffer.from(bytes));
      }),
    );
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 0, max: 255 }), fc.nat(), (position, value, cut) => {
        const bent = Buffer.from(named);
        bent[position % bent.length] = value;
        peekClientHello(bent.subarray(0, cut % (bent.length + 1)));
      }),
    );
  });
});
