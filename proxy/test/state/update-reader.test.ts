import { expect } from "chai";
import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import { atOnce } from "../../src/timing/steps.ts";
import { UpdateReader, type Change } from "../../src/state/staged-update.ts";
import { UpdatePacker, type UpdatePart } from "../../src/state/update-part.ts";
import { backend, endpoints, host, routeTo } from "./support.ts";

const web = endpoints("ns/web/http", "10.0.0.1");
const routes = [routeTo("ingress/ns/web:0.0", "/", [backend("ns/web/http")])];
const plain = host("web.example.com", routes);
const secure = host("web.example.com", routes, { port: 443 });

/** The parts of resources that arrive in this order, one body in each. */
function partsOf(resources: readonly Resource[]): readonly UpdatePart[] {
  const parts: UpdatePart[] = [];
  const packer = new UpdatePacker(1, (part) => parts.push(part));
  packer.add(resources);
  return [...parts, packer.close()];
}

/** The changes that the parts of a full update make, or the message of the error. */
function changesOf(
  parts: readonly UpdatePart[],
  present: ReadonlyMap<ResourceKey, string> = new Map(),
): readonly Change[] | string {
  const reader = new UpdateReader(present);
  for (const part of parts) reader.take(part);
  const read = atOnce(reader.finish({ full: true, removed: [] }));
  return read.ok ? read.value : read.error.message;
}

const keysOf = (changes: readonly Change[] | string): readonly string[] | string =>
  typeof changes === "string" ? changes : changes.map(({ key, hash }) => `${key} ${hash ?? "removed"}`);

describe("the reader of updates", () => {
  it("a body that two parts name is one value", () => {
    expect(plain.body).to.equal(secure.body);
    const changes = changesOf(partsOf([plain, web, secure]));
    if (typeof changes === "string") throw new Error(changes);
    const [first, , last] = changes;
    expect([first?.key, last?.key]).to.deep.equal([plain.key, secure.key]);
    expect(first?.decoded?.value).to.be.an("object").that.equals(last?.decoded?.value);
  });

  it("a body whose first key has an unknown form is read for a later key", () => {
    const unknown: Resource = { ...plain, key: "route|of a later release" as ResourceKey };
    const changes = changesOf(partsOf([unknown, web, plain]));
    if (typeof changes === "string") throw new Error(changes);
    expect(changes.map(({ decoded }) => decoded?.type)).to.deep.equal([undefined, "endpoints", "route"]);
  });

  it("the later of two resources with one key counts, in whichever parts they are", () => {
    const other = endpoints("ns/web/http", "10.0.0.2");
    const spoiled: Resource = { ...web, body: "{}" };
    expect(keysOf(changesOf(partsOf([spoiled, plain, other])))).to.deep.equal([
      `${other.key} ${other.hash}`,
      `${plain.key} ${plain.hash}`,
    ]);
    expect(changesOf(partsOf([other, plain, spoiled]))).to.equal(
      `resource ${web.key}: hash does not match its body`,
    );
  });

  it("a full update changes what is new, and removes what it does not have", () => {
    const present = new Map([
      [web.key, web.hash],
      ["endpoints|ns/old/http" as ResourceKey, "0"],
    ]);
    expect(keysOf(changesOf(partsOf([web, plain]), present))).to.deep.equal([
      "endpoints|ns/old/http removed",
      `${plain.key} ${plain.hash}`,
    ]);
  });

  it("a key whose body was never sent is rejected", () => {
    const [part] = partsOf([web]);
    if (part === undefined) throw new Error("no part");
    expect(changesOf([{ ...part, hashes: [], bodies: [] }])).to.equal(
      `resource ${web.key}: its body is missing`,
    );
  });
});
