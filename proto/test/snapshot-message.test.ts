import { expect } from "chai";
import fc from "fast-check";
import { Resource, Snapshot } from "@svc-gateway/proto/generated/discovery.js";
import { readSnapshot, type SnapshotMessage } from "@svc-gateway/proto/snapshot-message.ts";

const text = fc.string({ unit: "grapheme" });
const snapshots: fc.Arbitrary<SnapshotMessage> = fc.record({
  version: text,
  nonce: fc.uint8Array(),
  full: fc.boolean(),
  resources: fc.array(fc.record({ key: text, hash: text, body: text, more: fc.boolean() })),
  removed: fc.array(text),
  more: fc.boolean(),
});

const bytesOf = ({ resources, removed, ...rest }: SnapshotMessage): Uint8Array =>
  new Snapshot({
    ...rest,
    removed: [...removed],
    resources: resources.map(({ body, ...of }) => new Resource({ ...of, body: Buffer.from(body) })),
  }).serialize();

describe("the reader of snapshot messages", () => {
  it("every snapshot that generated code has written is read as it was", () => {
    fc.assert(
      fc.property(snapshots, (message) => {
        const read = readSnapshot(bytesOf(message));
        expect(read && { ...read, nonce: Uint8Array.from(read.nonce) }).to.deep.equal(message);
      }),
    );
  });

  it("bytes are read exactly when generated code reads them", () => {
    const isRead = (bytes: Uint8Array): boolean => {
      try {
        Snapshot.deserialize(bytes);
        return true;
      } catch {
        return false;
      }
    };
    const cut = fc.tuple(snapshots, fc.nat({ max: 60 }), fc.nat({ max: 255 })).map(([message, at, octet]) => {
      const bytes = Uint8Array.from(bytesOf(message));
      return at % 2 === 0 ? bytes.subarray(0, at) : bytes.with(Math.min(at, bytes.length - 1), octet);
    });
    fc.assert(
      fc.property(fc.oneof(cut, fc.uint8Array()), (bytes) => {
        expect(readSnapshot(bytes) !== undefined).to.equal(isRead(bytes));
      }),
    );
  });

  it("fields of a later release are skipped", () => {
    const later = Uint8Array.of(0x9a, 0x06, 0x02, 0x41, 0x42);
    const known = bytesOf({
      ...{ version: "v1", nonce: new Uint8Array(), full: true, more: false },
      ...{ resources: [], removed: ["a"] },
    });
    expect(readSnapshot(Buffer.concat([known, later]))).to.include({ version: "v1", full: true });
  });
});
