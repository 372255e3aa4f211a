/**
 * Plays generated responses to both clients of HTTP/2, and broken ones to the native one. A program of its own, since Node's
 * module sometimes aborts its process after connections that ended badly.
 */
import { expect } from "chai";
import fc from "fast-check";
import type { UpstreamClient } from "../../src/upstream/upstream.ts";
import { flags, frame, frameTypes, type RawPeer, uint32 } from "../http/h2/frames.ts";
import { BlockEncoder } from "../http2/hpack/block.ts";
import { http2Codecs, useHttp2Codec } from "../http2-codecs.ts";
import { openLayers } from "../socket-layers.ts";
import {
  createClient,
  type Exchanged,
  exchange,
  FedBody,
  type RawBackend,
  startRawBackend,
} from "../upstream/h2/support.ts";
import { isExplained, mutated, mutations, script, type Script, type Step } from "./http2-client-scripts.ts";

const runs = Number(process.env["RUNS"] ?? 400);
const seed = Number(process.env["SEED"] ?? 20_250_101);

/** The outcome of a request, as a client reports it. */
type Outcome =
  | {
      readonly kind: "response";
      readonly status: number | undefined;
      readonly headers: readonly string[] | undefined;
      readonly length: number | undefined;
      readonly body: string;
      readonly trailers: readonly string[];
      readonly informational: readonly number[];
    }
  | { readonly kind: "open"; readonly status: number | undefined; readonly body: string }
  | { readonly kind: "error"; readonly error: string };

type Side = {
  readonly create: () => UpstreamClient;
  client: UpstreamClient;
  readonly backend: RawBackend;
  peer: RawPeer | undefined;
  encoder: BlockEncoder;
  next: number;
};
const sides = new Map<string, Side>();

await openLayers();
for (const codec of http2Codecs) {
  const create = (): UpstreamClient => {
    useHttp2Codec(codec);
    return createClient();
  };
  sides.set(codec, {
    create,
    client: create(),
    backend: await startRawBackend(),
    peer: undefined,
    encoder: new BlockEncoder(),
    next: 1,
  });
}

/** Sends a request and answers once it has arrived on a connection that is up. */
const request = async (
  side: Side,
  { method, hasBody }: Script,
  isAlone = false,
): Promise<{ sent: Exchanged; id: number }> => {
  const body = hasBody ? new FedBody() : null;
  // What is idempotent would be sent once more where a connection that had carried a request is lost.
  const isFresh =
    side.peer === undefined || side.peer.ended || side.next > 400 || method === "HEAD" || isAlone;
  if (isFresh) {
    side.peer?.close();
    // The old client could send the request on the old connection, whose end it notices at any time.
    side.client.close();
    side.client = side.create();
  }
  const sent = exchange(side.client, side.backend.port, { method, body });
  if (isFresh) {
    side.peer = await side.backend.accept();
    side.encoder = new BlockEncoder();
    side.next = 1;
    side.peer.send(frame(frameTypes.settings, 0, 0));
  }
  const id = side.next;
  side.next += 2;
  await side.peer?.frame((f) => f.type === frameTypes.headers && f.streamId === id);
  return { sent, id };
};

const bytesOf = (steps: readonly Step[], id: number, encoder: BlockEncoder): Buffer[] =>
  steps.map((step) => {
    switch (step.kind) {
      case "head":
        return frame(
          frameTypes.headers,
          flags.endHeaders | (step.end ? flags.endStream : 0),
          id,
          encoder.encode(step.fields),
        );
      case "data": {
        const end = step.end ? flags.endStream : 0;
        if (step.padding < 0) return frame(frameTypes.data, end, id, Buffer.from(step.text));
        const padded = Buffer.concat([
          Buffer.of(step.padding),
          Buffer.from(step.text),
          Buffer.alloc(step.padding),
        ]);
        return frame(frameTypes.data, end | flags.padded, id, padded);
      }
      case "reset":
        return frame(frameTypes.rstStream, 0, id, uint32(step.code));
      case "window":
        return frame(frameTypes.windowUpdate, 0, id, uint32(step.by));
    }
  });

const outcomeOf = (sent: Exchanged): Outcome => {
  const { head, body, error } = sent;
  if (error !== undefined) return { kind: "error", error: error.kind };
  if (!sent.ended) return { kind: "open", status: head?.status, body };
  return {
    kind: "response",
    status: head?.status,
    headers: head?.headers.toList(),
    length: head?.length,
    body,
    trailers: sent.trailers ?? [],
    informational: sent.informational,
  };
};

/** Waits at most 100 turns of the event loop, in which Node notices that a session has ended. */
const settle = async (sent: Exchanged, peer: RawPeer): Promise<void> => {
  for (let turn = 0; turn < 100; turn++) {
    if ((sent.ended || sent.error !== undefined) && !peer.ended) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
};

const play = async (codec: string, one: Script, change?: (bytes: Buffer) => Buffer): Promise<Outcome> => {
  const side = sides.get(codec) as Side;
  const { sent, id } = await request(side, one, change !== undefined);
  const peer = side.peer as RawPeer;
  if (change !== undefined) {
    // Where the last frame ends is not known any more.
    peer.socket.end(change(Buffer.concat(bytesOf(one.steps, id, side.encoder))));
    await sent.settled;
    return outcomeOf(sent);
  }
  const question = String(id).padStart(8, "0");
  peer.send(...bytesOf(one.steps, id, side.encoder), frame(frameTypes.ping, 0, 0, Buffer.from(question)));
  await peer
    .frame((f) => f.type === frameTypes.ping && f.payload.toString() === question)
    .catch(() => undefined);
  await settle(sent, peer);
  const outcome = outcomeOf(sent);
  sent.stream.abort();
  return outcome;
};

/**
 * Expects that the native client accepts the responses that nghttp2 accepts, with the same fields. The exceptions are
 * in a list.
 */
async function compare(): Promise<object> {
  const seen = { response: 0, open: 0, error: 0, stricter: 0 };
  await fc.assert(
    fc.asyncProperty(script, async (one) => {
      const [node, native] = [await play("node", one), await play("native", one)];
      seen[node.kind]++;
      if (node.kind !== "error" && native.kind === "error" && isExplained(one)) {
        seen.stricter++;
        return;
      }
      // A reset behind a fault is what Node reports.
      if (node.kind === "error" && one.steps.some(({ kind }) => kind === "reset"))
        expect(native.kind).to.equal("error");
      else expect(native).to.deep.equal(node);
    }),
    { numRuns: runs, seed },
  );
  return seen;
}

/** The native client comes to an end with broken bytes, and takes no more of them than were sent. */
async function breakBytes(): Promise<object> {
  const seen = { response: 0, open: 0, error: 0 };
  await fc.assert(
    fc.asyncProperty(script, mutations, async (one, changes) => {
      let bytes = 0;
      const outcome = await play("native", one, (whole) => {
        const changed = mutated(whole, changes);
        bytes = changed.length;
        return changed;
      });
      seen[outcome.kind]++;
      expect(outcome.kind).to.not.equal("open");
      if (outcome.kind === "response") expect(outcome.body.length).to.be.at.most(bytes);
    }),
    { numRuns: runs, seed },
  );
  return seen;
}

const seen = process.argv[2] === "broken" ? await breakBytes() : await compare();
process.stdout.write(JSON.stringify(seen));
for (const { client, backend } of sides.values()) {
  client.close();
  await backend.close();
}
