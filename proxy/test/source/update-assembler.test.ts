import { expect } from "chai";
import { Resource, Snapshot } from "@svc-gateway/proto/generated/discovery.js";
import { createUpdateAssembler } from "@svc-gateway/proxy/source/update-assembler.ts";

const nonce = Uint8Array.of(1, 2, 3);

type Piece = { readonly key: string; readonly body: string; readonly more?: boolean };

const part = (pieces: readonly Piece[], more: boolean, name: Uint8Array = nonce): Uint8Array =>
  new Snapshot({
    version: "v1",
    nonce: name,
    full: true,
    more,
    resources: pieces.map(
      ({ key, body, more: goesOn = false }) =>
        new Resource({ key, hash: "h", body: Buffer.from(body), more: goesOn }),
    ),
    removed: [],
  }).serialize();

/** What an assembler says to the last of some messages; the others are taken as incomplete. */
function answerTo(messages: readonly Uint8Array[], maxBytes?: number) {
  const assemble = createUpdateAssembler(maxBytes);
  return messages.map((message) => assemble(message)).at(-1);
}

describe("the assembler of updates", () => {
  it("the assembler returns an update once its last part has arrived", () => {
    const assemble = createUpdateAssembler();
    expect(assemble(part([{ key: "a", body: "1" }], true))).to.deep.equal({ ok: true, value: undefined });
    expect(assemble(part([{ key: "b", body: "2", more: true }], true))).to.deep.equal({
      ok: true,
      value: undefined,
    });
    expect(assemble(part([{ key: "b", body: "3" }], false))).to.deep.equal({
      ok: true,
      value: {
        nonce,
        update: {
          version: "v1",
          full: true,
          resources: [
            { key: "a", hash: "h", body: "1" },
            { key: "b", hash: "h", body: "23" },
          ],
          removed: [],
        },
      },
    });
  });

  it("a message of a controller that sends no parts is a whole update", () => {
    expect(answerTo([part([{ key: "a", body: "1" }], false)])?.ok).to.equal(true);
  });

  it("an update that begins before the last one was complete is rejected", () => {
    const answer = answerTo([part([], true), part([], false, Uint8Array.of(9))]);
    expect(answer).to.deep.equal({
      ok: false,
      error: { message: "an update began before the last one was complete" },
    });
  });

  it("a resource body that does not continue where it was cut is rejected", () => {
    const cut = part([{ key: "a", body: "1", more: true }], true);
    expect(answerTo([cut, part([{ key: "b", body: "2" }], false)])?.ok).to.equal(false);
    expect(answerTo([part([{ key: "a", body: "1", more: true }], false)])?.ok).to.equal(false);
  });

  it("an update above the size limit is rejected, so that no controller can exhaust a proxy's memory", () => {
    const piece = part([{ key: "a", body: "x".repeat(1000) }], true);
    expect(answerTo([piece, piece], 3000)).to.deep.equal({ ok: true, value: undefined });
    expect(answerTo([piece, piece, piece], 3000)?.ok).to.equal(false);
  });

  it("the assembler starts over after a rejected message", () => {
    const assemble = createUpdateAssembler();
    assemble(part([{ key: "a", body: "1" }], true));
    assemble(Uint8Array.of(0xff));
    const taken = assemble(part([{ key: "b", body: "2" }], false));
    expect(taken.ok && taken.value?.update.resources.map(({ key }) => key)).to.deep.equal(["b"]);
  });
});
