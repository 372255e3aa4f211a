import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { ok } from "@svc-gateway/common/values/result.ts";
import { expect } from "chai";
import { proveAccepting } from "../../../src/sockets/handles/accept-self-test.ts";
import { HandleTransport } from "../../../src/sockets/handles/handle-transport.ts";
import { openHandleSockets, openSocketLayer } from "../../../src/sockets/handles/handle-layer.ts";
import { findInternals, type HandleInternals } from "../../../src/sockets/handles/internals.ts";
import { proveHandles } from "../../../src/sockets/handles/self-test.ts";
import { TestBench } from "../../../src/sockets/handles/test-bench.ts";
import { proveTlsHandles } from "../../../src/sockets/handles/tls-self-test.ts";
import { nodeSockets } from "../../../src/sockets/socket-layer.ts";
import { SocketTransport } from "../../../src/sockets/socket-transport.ts";
import { layerNamed } from "../../socket-layers.ts";
import { TlsPairs } from "../tls-pairs.ts";

type Parts = Readonly<Record<string, unknown>>;

const binding = (name: string): Parts =>
  (process as unknown as { binding(name: string): Parts }).binding(name);

function internals(): HandleInternals {
  const found = findInternals();
  if (!found.ok) throw new Error(found.error);
  return found.value;
}

describe("the check of the runtime's TCP handles", () => {
  it("the handles of the Node.js that is shipped pass the check", async () => {
    const opened = await openHandleSockets(undefined, 60_000);
    expect(opened.ok && opened.value.tlsLack).to.equal(undefined);
    expect(opened.ok && opened.value.acceptLack).to.equal(undefined);
  });

  it("a binding that is forbidden or removed is named with its error", () => {
    const found = findInternals(() => {
      throw new Error("No such binding");
    });
    expect(found).to.deep.equal({
      ok: false,
      error: 'process.binding("stream_wrap"): No such binding',
    });
  });

  for (const part of ["WriteWrap", "streamBaseState", "kReadBytesOrError", "kLastWriteWasAsync"]) {
    it(`a binding without ${part} is not used, and the error names it`, () => {
      const found = findInternals((name) => ({ ...binding(name), [part]: undefined }));
      expect(found).to.deep.equal({ ok: false, error: part });
    });
  }

  it("an index outside of the state is not used", () => {
    const found = findInternals((name) => ({ ...binding(name), kReadBytesOrError: 99 }));
    expect(found).to.deep.equal({ ok: false, error: "kReadBytesOrError" });
  });

  it("two results at one index are not used", () => {
    const found = findInternals((name) => ({ ...binding(name), kLastWriteWasAsync: 0 }));
    expect(found).to.deep.equal({ ok: false, error: "kLastWriteWasAsync" });
  });

  const changes: readonly {
    readonly what: string;
    readonly change: (of: HandleInternals) => HandleInternals;
  }[] = [
    { what: "results of reads at another index", change: (of) => ({ ...of, readAt: 1 }) },
    { what: "a mark of waiting writes at another index", change: (of) => ({ ...of, isAsyncAt: 1 }) },
    { what: "a state that never changes", change: (of) => ({ ...of, state: new Int32Array(4) }) },
  ];
  for (const { what, change } of changes) {
    it(`the self-test notices ${what}`, async () => {
      const opened = await openHandleSockets(() => ok(change(internals())), 500);
      expect(opened.ok).to.equal(false);
      if (!opened.ok) expect(opened.error).to.match(/^self-test of the TCP handles, [a-z -]+: /);
    });
  }
});

describe("the time limit of a self-test", () => {
  it("a pause of the process does not count for the time limit of a self-test", async () => {
    const bench = new TestBench(900);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1300);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(bench.isOver).to.equal(false);
    bench.close();
  });
});

describe("the socket layer", () => {
  it("handles that cannot be used are logged once, and Node's public sockets are used", async () => {
    const lines: { readonly fields: object; readonly message: string }[] = [];
    const log = { warn: (fields: object, message: string) => void lines.push({ fields, message }) };
    const layer = await openSocketLayer("handles", log, () => ({ ok: false, error: "WriteWrap" }));
    expect(layer).to.equal(nodeSockets);
    expect(lines).to.have.length(1);
    expect(lines[0]?.fields).to.deep.equal({ missing: "WriteWrap", node: process.version });
    expect(lines[0]?.message).to.match(/public sockets are used instead$/);
  });

  it("Node's public sockets are used without a check when they are asked for", async () => {
    const log = { warn: () => expect.fail("nothing is logged") };
    const find = (): never => expect.fail("nothing is looked for");
    expect(await openSocketLayer("node", log, find)).to.equal(nodeSockets);
  });

  it("TCP connections are taken by their handles, and closed ones by Node's sockets", async () => {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
    const [socket] = (await once(server, "connection")) as [Socket];
    const handles = layerNamed("handles");
    expect(handles.take(socket)).to.be.instanceOf(HandleTransport);
    client.destroy();
    socket.destroy();
    expect(handles.take(socket)).to.be.instanceOf(SocketTransport);
    server.close();
    await once(server, "close");
  });

  it("TLS connections are taken by their handles unless something has been written to them", async () => {
    const pairs = await TlsPairs.listen();
    const handles = layerNamed("handles");
    const [fresh, used] = [await pairs.accept(), await pairs.accept()];
    used.socket.write("x");
    expect(handles.take(fresh.socket)).to.be.instanceOf(HandleTransport);
    expect(handles.take(used.socket)).to.be.instanceOf(SocketTransport);
    await pairs.close();
  });

  it("TLS handles that cannot be used are logged once, and plain connections are still on handles", async () => {
    const lines: { readonly fields: object; readonly message: string }[] = [];
    const log = { warn: (fields: object, message: string) => void lines.push({ fields, message }) };
    const proveTls = async (): Promise<{ ok: false; error: string }> => ({ ok: false, error: "half-close" });
    const layer = await openSocketLayer("handles", log, undefined, { tls: proveTls });
    expect(lines.map(({ fields }) => fields)).to.deep.equal([
      { missing: "half-close", node: process.version },
    ]);
    expect(lines[0]?.message).to.match(/public sockets are used for TLS instead$/);
    const pairs = await TlsPairs.listen();
    const { socket, plain } = await pairs.accept();
    expect(layer.take(socket)).to.be.instanceOf(SocketTransport);
    expect(layer.take(plain)).to.be.instanceOf(HandleTransport);
    await pairs.close();
  });

  it("accepting that cannot be used is logged once, and connections are still on handles", async () => {
    const lines: { readonly fields: object; readonly message: string }[] = [];
    const log = { warn: (fields: object, message: string) => void lines.push({ fields, message }) };
    const accepting = async (): Promise<{ ok: false; error: string }> => ({ ok: false, error: "addresses" });
    const layer = await openSocketLayer("handles", log, undefined, { accepting });
    expect(lines.map(({ fields }) => fields)).to.deep.equal([
      { missing: "addresses", node: process.version },
    ]);
    expect(lines[0]?.message).to.match(/sockets are made for them instead$/);
    expect(layer.acceptor).to.equal(undefined);
    const pairs = await TlsPairs.listen();
    const { socket } = await pairs.accept();
    expect(layer.take(socket)).to.be.instanceOf(HandleTransport);
    await pairs.close();
  });

  it("the self-test notices accepted handles of another kind than those of sockets", async () => {
    const other = await proveAccepting(internals(), { prototype: {} }, 500);
    expect(other.ok ? "" : other.error).to.match(/^self-test of accepted TCP handles, accept: a connection/);
  });

  // Writes that are small beside what TLS adds to all of them: what the system takes of the last one decides nothing.
  it("the self-test of TLS passes wherever the buffers of the system are full", async () => {
    const tcp = await proveHandles(internals());
    if (!tcp.ok) throw new Error(tcp.error);
    for (const pieceBytes of [4096, 65_536, 2_097_152]) {
      const proved = await proveTlsHandles(internals(), tcp.value, undefined, pieceBytes);
      expect(proved.ok ? "" : proved.error, `pieces of ${pieceBytes} bytes`).to.equal("");
    }
  });
});
