import { expect } from "chai";
import { Resource, Snapshot } from "@svc-gateway/proto/generated/discovery.js";
import { createUpdateAssembler, type UpdateAssembler } from "@svc-gateway/proxy/source/update-assembler.ts";

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

/** The answer of an assembler to the last of some messages: whether the update is complete, or the problem. */
function answerTo(messages: readonly Uint8Array[], maxBytes?: number): boolean | string | undefined {
  const assembler = createUpdateAssembler(maxBytes);
  return messages.map((message) => answerIn(assembler.take(message))).at(-1);
}

const answerIn = (taken: ReturnType<UpdateAssembler["take"]>): boolean | string =>
  taken.ok ? taken.value.isComplete : taken.error.message;

describe("the assembler of updates", () => {
  it("the assembler gives the resources of each part at once, and completes the update with the last", async () => {
    const assembler = createUpdateAssembler();
    const first = assembler.take(part([{ key: "a", body: "1" }], true));
    if (!first.ok) throw new Error(first.error.message);
    const { update } = first.value;
    const arrived: string[] = [];
    update.follow({
      onResources: (resources) => arrived.push(...resources.map(({ key }) => key)),
      onEnd: () => arrived.push("end"),
    });
    expect(arrived).to.deep.equal(["a"]);
    expect(answerIn(assembler.take(part([{ key: "b", body: "2", more: true }], true)))).to.equal(false);
    expect(arrived).to.deep.equal(["a"]);
    expect(answerIn(assembler.take(part([{ key: "b", body: "3" }], false)))).to.equal(true);
    expect(arrived).to.deep.equal(["a", "b", "end"]);
    expect(first.value.nonce).to.deep.equal(nonce);
    expect(await update.whole).to.deep.equal({
      version: "v1",
      full: true,
      resources: [
        { key: "a", hash: "h", body: "1" },
        { key: "b", hash: "h", body: "23" },
      ],
      removed: [],
    });
  });

  it("an update is abandoned when the stream ends before its last part, or breaks the rules of parts", async () => {
    for (const end of [
      (assembler: UpdateAssembler) => assembler.abandon(),
      (assembler: UpdateAssembler) => assembler.take(Uint8Array.of(0xff)),
    ]) {
      const assembler = createUpdateAssembler();
      const first = assembler.take(part([{ key: "a", body: "1" }], true));
      end(assembler);
      expect(first.ok && (await first.value.update.whole)).to.equal(undefined);
    }
  });

  it("a message of a controller that sends no parts is a whole update", () => {
    expect(answerTo([part([{ key: "a", body: "1" }], false)])).to.equal(true);
  });

  it("an update that begins before the last one was complete is rejected", () => {
    const answer = answerTo([part([], true), part([], false, Uint8Array.of(9))]);
    expect(answer).to.equal("an update began before the last one was complete");
  });

  it("a resource body that does not continue where it was cut is rejected", () => {
    const cut = part([{ key: "a", body: "1", more: true }], true);
    expect(answerTo([cut, part([{ key: "b", body: "2" }], false)])).to.equal(
      "a resource ends in the middle of its body",
    );
    expect(answerTo([part([{ key: "a", body: "1", more: true }], false)])).to.equal(
      "the update ends in the middle of a body",
    );
  });

  it("an update above the size limit is rejected, so that no controller can exhaust a proxy's memory", () => {
    const piece = part([{ key: "a", body: "x".repeat(1000) }], true);
    expect(answerTo([piece, piece], 3000)).to.equal(false);
    expect(answerTo([piece, piece, piece], 3000)).to.equal("the update is larger than 3000 bytes");
  });

  it("the assembler starts over after a rejected message", async () => {
    const assembler = createUpdateAssembler();
    assembler.take(part([{ key: "a", body: "1" }], true));
    assembler.take(Uint8Array.of(0xff));
    const taken = assembler.take(part([{ key: "b", body: "2" }], false));
    const update = taken.ok ? await taken.value.update.whole : undefined;
    expect(update?.resources.map(({ key }) => key)).to.deep.equal(["b"]);
  });
});
