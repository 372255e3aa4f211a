import { expect } from "chai";
import fc from "fast-check";
import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import { sha256Hex, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { createSnapshot, fullUpdate, type SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { prepareUpdate } from "@svc-gateway/operator/discovery/prepared-update.ts";
import { encodedLength, encodeUpdate } from "@svc-gateway/operator/discovery/update-encoding.ts";
import { createPartReader } from "@svc-gateway/operator/discovery/update-parts.ts";
import { Snapshot } from "@svc-gateway/proto/generated/discovery.js";
import { maxPartBytes } from "@svc-gateway/proto/wire.ts";

const resourceOf = (name: string, body: string): Resource => ({
  key: `other|${name}` as ResourceKey,
  hash: sha256Hex(body),
  body,
});

const letters = ["a", "é", "€", "😀"];

/** Updates of up to some hundred KiB, with bodies of one to four bytes a character. */
const updates = fc
  .record({
    sizes: fc.array(fc.tuple(fc.nat(60_000), fc.nat(3)), { maxLength: 8 }),
    removed: fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 2000 }), { maxLength: 40 }),
    full: fc.boolean(),
  })
  .map(({ sizes, removed, full }): SnapshotUpdate => {
    const resources = sizes.map(([length, letter], index) =>
      resourceOf(String(index), `${"x".repeat(letter)}${letters[letter]?.repeat(length)}`),
    );
    return { ...fullUpdate(createSnapshot(resources)), full, removed: removed as ResourceKey[] };
  });

describe("the parts of an update", () => {
  it("the parts of an update are no longer than the limit and give the update when they are joined", () => {
    fc.assert(
      fc.property(updates, fc.integer({ min: 16 * 1024, max: 100_000 }), (update, maxBytes) => {
        const read = createPartReader(update, maxBytes);
        const parts: Snapshot[] = [];
        for (let part = read(); part !== undefined; part = read()) {
          expect(part.body.length).to.be.at.most(maxBytes);
          parts.push(Snapshot.deserialize(part.body));
        }
        expect(parts.map(({ more }) => more)).to.deep.equal(parts.map((_, at) => at < parts.length - 1));
        for (const { version, full } of parts) {
          expect({ version, full }).to.deep.equal({ version: update.version, full: update.full });
        }
        expect(parts.flatMap(({ removed }) => removed)).to.deep.equal(update.removed);
        const joined: Resource[] = [];
        let text = "";
        for (const { key, hash, body, more } of parts.flatMap(({ resources }) => resources)) {
          // A piece never ends inside a character: each is UTF-8 by itself.
          text += new TextDecoder("utf-8", { fatal: true }).decode(body);
          if (more) continue;
          joined.push({ key: key as ResourceKey, hash, body: text });
          text = "";
        }
        expect(joined).to.deep.equal(update.resources);
      }),
      { numRuns: 60 },
    );
  });

  it("the number of parts is what the length of the update requires", () => {
    const update = fullUpdate(createSnapshot([resourceOf("a", "x".repeat(1_000_000))]));
    const read = createPartReader(update, 64 * 1024);
    let count = 0;
    while (read() !== undefined) count += 1;
    expect(count).to.equal(Math.ceil(1_000_000 / (64 * 1024)));
  });

  it("the length of an update as one message is known before it is encoded", () => {
    fc.assert(
      fc.property(updates, (update) => {
        expect(encodedLength(update)).to.equal(encodeUpdate(update).body.length);
      }),
      { numRuns: 30 },
    );
  });

  it("the only part of a small update is the one message that all proxies share", () => {
    const update = prepareUpdate(fullUpdate(createSnapshot([resourceOf("a", "{}")])));
    const read = update.parts();
    expect(read()).to.equal(update.whole());
    expect(read()).to.equal(undefined);
  });

  it("the parts of a large update are encoded for each proxy, so that none are kept in memory", () => {
    const update = prepareUpdate(fullUpdate(createSnapshot([resourceOf("a", "x".repeat(maxPartBytes))])));
    const [first, second] = [update.parts(), update.parts()];
    expect(first()?.body).to.not.equal(second()?.body);
    expect(first()).to.not.equal(undefined);
    expect(first()).to.equal(undefined);
  });
});
