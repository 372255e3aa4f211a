import { expect } from "chai";
import fc from "fast-check";
import { createSnapshot, fullUpdate, type SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import { sha256Hex } from "@svc-gateway/common/ir/resource.ts";
import { encodeServerMessage, encodeUpdate } from "@svc-gateway/operator/discovery/update-encoding.ts";
import { readEnvelope } from "@svc-gateway/proto/envelope.ts";
import { ServerMessage } from "@svc-gateway/proto/generated/discovery.js";

const update = fc
  .record({
    bodies: fc.dictionary(fc.string({ unit: "grapheme", minLength: 1 }), fc.string({ unit: "grapheme" })),
    removed: fc.array(fc.string({ minLength: 1 })),
    full: fc.boolean(),
  })
  .map(({ bodies, removed, full }): SnapshotUpdate => {
    const resources = Object.entries(bodies).map(([key, body]) => ({
      key: key as ResourceKey,
      hash: sha256Hex(body),
      body,
    }));
    return {
      ...fullUpdate(createSnapshot(resources)),
      full,
      removed: removed as ResourceKey[],
    };
  });

describe("server messages", () => {
  it("an encoded server message is decoded to the same value by the generated code", () => {
    fc.assert(
      fc.property(update, fc.uint8Array({ minLength: 1 }), fc.boolean(), (sent, nonce, leading) => {
        const bytes = encodeServerMessage(leading, { update: encodeUpdate(sent), nonce });
        const message = ServerMessage.deserialize(bytes);
        expect(message.leading).to.equal(leading);
        const { snapshot } = message;
        expect(Buffer.from(snapshot.nonce).equals(nonce)).to.equal(true);
        expect(snapshot.version).to.equal(sent.version);
        expect(snapshot.full).to.equal(sent.full);
        expect(snapshot.removed).to.deep.equal(sent.removed);
        expect(
          snapshot.resources.map(({ key, hash, body }) => ({
            key,
            hash,
            body: Buffer.from(body).toString(),
          })),
        ).to.deep.equal(sent.resources);
      }),
    );
  });

  it("the flags of a server message can be read without its snapshot", () => {
    const body = encodeUpdate(fullUpdate(createSnapshot([])));
    const nonce = Uint8Array.of(1);
    expect(readEnvelope(encodeServerMessage(true))).to.deep.equal({
      leading: true,
      answersPings: true,
      snapshot: undefined,
    });
    expect(readEnvelope(encodeServerMessage(false))).to.deep.equal({
      leading: false,
      answersPings: true,
      snapshot: undefined,
    });
    const envelope = readEnvelope(encodeServerMessage(true, { update: body, nonce }));
    expect(envelope?.leading).to.equal(true);
    expect(envelope?.snapshot?.length).to.be.greaterThan(nonce.length);
  });

  it("unknown fields of a newer controller in a server message are skipped", () => {
    const newer = Buffer.concat([Buffer.of(0x3a, 3, 1, 2, 3), encodeServerMessage(true), Buffer.of(0x20, 7)]);
    expect(readEnvelope(newer)?.leading).to.equal(true);
  });

  it("a truncated server message has no envelope", () => {
    expect(readEnvelope(Buffer.of(0x0a, 0x05, 1))).to.equal(undefined);
    expect(readEnvelope(Buffer.of(0xff))).to.equal(undefined);
  });
});
