import { generateKeyPairSync } from "node:crypto";
import { expect } from "chai";
import { decodeResource } from "@svc-gateway/common/ir/resource.ts";
import { readKeySet } from "../../../src/translate/credentials/key-set.ts";
import {
  createKeySetTranslator,
  type FetchedKeySet,
  type KeySetRef,
} from "../../../src/translate/credentials/remote-key-sets.ts";

const ref = (namespace: string, name: string, day: number): KeySetRef => ({
  name: `${namespace}/${name}`,
  object: { kind: "JwtAuth", namespace, name },
  age: { createdMs: day, key: `${namespace}/${name}` },
  uri: `https://${namespace}.example.com/keys`,
  refreshIntervalMs: 300_000,
});

const publicKey = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });

/** A fetched key set whose key ids have `length` characters in total. */
function fetchedOf(length: number): FetchedKeySet {
  const read = readKeySet({
    keys: Array.from({ length: length / 1000 }, (_, index) => ({
      ...publicKey,
      kid: `${index}`.padEnd(1000, "k"),
    })),
  });
  return { keys: read.ok ? read.value.keys : undefined, unusable: [], problem: undefined };
}

const fetched = new Map([
  ["https://team.example.com/keys", fetchedOf(10_000)],
  ["https://shop.example.com/keys", fetchedOf(20_000)],
]);

const copies = [ref("team", "a", 1), ref("team", "c", 3), ref("team", "b", 2), ref("team", "d", 4)];

function usedOf(
  translate: ReturnType<typeof createKeySetTranslator>,
  refs: readonly KeySetRef[],
): readonly string[] {
  return translate(refs, fetched).resources.flatMap((resource) => {
    const decoded = decodeResource(resource);
    const value = decoded.ok && decoded.value?.type === "jwks" ? decoded.value.value : undefined;
    return value?.keys === undefined ? [] : [resource.key];
  });
}

describe("the key sets of JwtAuths", () => {
  it("key sets above the limit are left out of the newest JwtAuths of the namespace with the most copies only", () => {
    const translate = createKeySetTranslator(50_000);
    const refs = [...copies, ref("shop", "login", 9)];
    expect(usedOf(translate, refs)).to.deep.equal(["jwks|team/a", "jwks|team/b", "jwks|shop/login"]);
    const { diagnostics, events, resources } = translate(refs, fetched);
    expect(resources, "each is there, so that requests are answered 503").to.have.lengthOf(5);
    const reported = diagnostics.filter(({ severity }) => severity === "error");
    expect(reported.map(({ object, reason }) => [object.name, reason])).to.deep.equal([
      ["c", "ProtectionUnavailable"],
      ["d", "ProtectionUnavailable"],
    ]);
    expect(events.map(({ object }) => object.name)).to.deep.equal(["c", "d"]);
  });

  it("key sets that were left out are used again as soon as there is room", () => {
    const translate = createKeySetTranslator(25_000);
    expect(usedOf(translate, copies)).to.have.lengthOf(2);
    expect(usedOf(translate, copies.slice(1, 3))).to.deep.equal(["jwks|team/c", "jwks|team/b"]);
    const { resources } = translate(copies.slice(1, 3), fetched);
    expect(resources).to.deep.equal(createKeySetTranslator(25_000)(copies.slice(1, 3), fetched).resources);
  });

  it("a key set of more than eight keys is reported as needing tokens with a kid", () => {
    const translate = createKeySetTranslator(200_000);
    const [wanted] = copies as [KeySetRef];
    const findings = (count: number) =>
      translate([wanted], new Map([[wanted.uri, fetchedOf(count * 1000)]])).diagnostics.map(
        ({ severity, reason, message }) => `${severity} ${reason} ${message}`,
      );
    expect(findings(8)).to.deep.equal([]);
    expect(findings(9)).to.deep.equal([
      "info KeySetNeedsKid JwtAuth team/a: 9 keys are for EdDSA, and a token without kid is checked with 8 of them only",
    ]);
  });

  it("key sets below the limit are all used", () => {
    expect(usedOf(createKeySetTranslator(200_000), copies)).to.have.lengthOf(4);
  });
});
