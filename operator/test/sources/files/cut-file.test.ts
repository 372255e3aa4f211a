import { expect } from "chai";
import { appendFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FolderState } from "../../../src/sources/files/folder-state.ts";
import { folderLimits } from "../../../src/sources/files/limits.ts";
import { listFolder } from "../../../src/sources/files/listing.ts";
import { createFolderLoader } from "../../../src/sources/files/loader.ts";
import { settleTimes } from "../../../src/sources/files/settling.ts";
import { configMap, createTestFolder, failingLog, problemsOf, valuesOf, type TestFolder } from "./folder.ts";

/** Times so long that a file that may be cut is not read within a test. */
const forEver = { ...settleTimes, cutQuietMs: 600_000, maxCutMs: 600_000 };

describe("a file that is written in place", () => {
  let folder: TestFolder;
  beforeEach(async () => {
    folder = await createTestFolder();
  });
  afterEach(() => folder.remove());

  const writeInPlace = (text: string, file = "a.yaml"): Promise<void> =>
    writeFile(join(folder.path, file), text);
  const has =
    (name: string, value: string | undefined) =>
    (state: FolderState): boolean =>
      valuesOf(state)[name] === value;

  const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n";
  const lines = configMap("b").replace("\ndata:\n", "\ndata:\n  first: text\n  second: text\n");
  const whole = `${configMap("a")}---\n${lines}---\n${deployment}`;
  const list = `apiVersion: v1\nkind: List\nitems:\n${[configMap("a"), lines]
    .map((text) => `- ${text.trimEnd().replaceAll("\n", "\n  ")}\n`)
    .join("")}`;

  for (const [what, text, cut] of [
    ["that is empty", whole, ""],
    ["of which a comment is left", whole, "# generated\n"],
    ["that ends behind the marker of a document", whole, `${configMap("a")}---\n`],
    ["that ends where a document ended", whole, configMap("a")],
    ["whose last document ends after a line", lines, lines.slice(0, lines.indexOf("  second"))],
    [
      "whose last document ends within a line",
      lines,
      lines.replace("second: text", "second: other").slice(0, -3),
    ],
    ["whose last document is not YAML any more", lines, configMap("b", "2").slice(0, -2)],
    ["whose list has fewer items", list, list.slice(0, list.lastIndexOf("- "))],
    ["whose last item of a list ends after a line", list, list.slice(0, list.indexOf("    second"))],
  ] as const) {
    it(`a file ${what} keeps its objects, without a finding, until it has been written`, async () => {
      await folder.write("a.yaml", text);
      await folder.write("other.yaml", configMap("other", "0"));
      const source = await folder.follow({ times: forEver });
      const { world } = source.latest();
      for (const round of ["1", "2"]) {
        await writeInPlace(cut);
        await folder.write("other.yaml", configMap("other", round));
        const state = await source.until(has("other", round));
        expect(valuesOf(state)).to.deep.equal({ ...valuesOf({ ...state, world }), other: round });
        expect(problemsOf(folder, state)).to.deep.equal([]);
        await writeInPlace(text);
      }
      await writeInPlace(`${text}---\n${configMap("new")}`);
      await source.until(has("new", "1"));
      for (const { problems } of source.states) expect(problems).to.deep.equal([]);
    });
  }

  for (const [what, text, left] of [
    ["is emptied", "", {}],
    ["loses its last documents", configMap("a"), { a: "1" }],
  ] as const) {
    it(`a file that ${what} is used as it is once it has settled`, async () => {
      await folder.write("a.yaml", whole);
      const source = await folder.follow({ times: { ...forEver, cutQuietMs: 100 } });
      // In one step, because a file that is empty until it is written may settle as it is.
      await truncate(join(folder.path, "a.yaml"), text.length);
      expect(valuesOf(await source.until(has("b", undefined)))).to.deep.equal(left);
    });
  }

  for (const [what, text, left] of [
    ["has fewer documents than before, one of which differs", configMap("a", "2"), { a: "2" }],
    ["has other objects", configMap("c"), { c: "1" }],
  ] as const) {
    it(`a file that ${what} is used at once`, async () => {
      await folder.write("a.yaml", whole);
      const source = await folder.follow({ times: forEver });
      await writeInPlace(text);
      expect(valuesOf(await source.until(has("b", undefined)))).to.deep.equal(left);
    });
  }

  it("a file that is no longer YAML is reported once it has settled", async () => {
    await folder.write("a.yaml", configMap("a"));
    const source = await folder.follow({ times: { ...forEver, cutQuietMs: 100 } });
    // In one step, because a file that is empty until it is written may settle as it is.
    await appendFile(join(folder.path, "a.yaml"), "a: [\n");
    const state = await source.until(({ problems }) => problems.length > 0);
    expect(problemsOf(folder, state)[0]).to.match(/^a\.yaml:\d+:\d+: .*; its last valid state is used$/);
    expect(valuesOf(state)).to.deep.equal({ a: "1" });
  });

  it("a file that is cut whenever it is read is used as it is after the longest time, which is logged", async () => {
    await folder.write("a.yaml", configMap("a"));
    const logged: unknown[] = [];
    const log = { ...failingLog, warn: (fields: unknown) => void logged.push(fields) };
    const times = { ...forEver, maxCutMs: 300 };
    const source = await folder.follow({ times, log });
    for (let round = 0; valuesOf(source.latest())["a"] !== undefined; round++) {
      await writeInPlace("#".repeat(round % 9));
      // Once the other file is seen, the version of this one has been read, too.
      await folder.write("other.yaml", configMap("other", String(round)));
      await source.until(has("other", String(round)));
    }
    const file = join(folder.path, "a.yaml");
    expect(logged).to.deep.equal([{ event: "manifest_never_whole", file, after_ms: 300 }]);
    await writeInPlace(configMap("a", "2"));
    await source.until(has("a", "2"));
  });

  it("a file that was cut when it was listed, and has been written since, is not used as it was", async () => {
    await folder.write("a.yaml", whole);
    const times = { ...forEver, cutQuietMs: 1 };
    const loader = createFolderLoader(folder.path, folderLimits, { times });
    const listed = async () => {
      const listing = await listFolder(folder.path, folderLimits);
      if (!listing.ok) throw new Error(listing.error.message);
      return listing.value;
    };
    const load = async (...args: Parameters<typeof loader.load>) => {
      const loaded = await loader.load(...args);
      if (!loaded.ok || loaded.value.state === undefined) throw new Error("the folder was not read");
      return valuesOf(loaded.value.state);
    };
    const before = await load(await listed(), { isLastTry: true });
    await writeInPlace("");
    await load(await listed(), { isLastTry: true });
    const endMs = loader.nextCutEndMs;
    const listing = await listed();
    await writeInPlace(whole);
    while (performance.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(await load(listing, { isLastTry: true, listedMs: endMs - 1 })).to.deep.equal(before);
    expect(await load(await listed(), { isLastTry: true })).to.deep.equal(before);
  });

  it("a file that is renamed over another one is used at once, also if it has fewer objects or is not YAML", async () => {
    await folder.write("a.yaml", `${configMap("a")}---\n${configMap("b")}`);
    const source = await folder.follow({ times: forEver });
    await folder.write("a.yaml", configMap("a"));
    await source.until(has("b", undefined));
    await folder.write("a.yaml", "a: [\n");
    await source.until(({ problems }) => problems.length > 0);
  });

  it("a file that is created again in place of another one keeps its objects while it is cut", async () => {
    await folder.write("a.yaml", `${configMap("a")}---\n${configMap("b")}`);
    const source = await folder.follow({ times: forEver });
    const seen = async (value: string): Promise<FolderState> => {
      await folder.write("other.yaml", configMap("other", value));
      return source.until(has("other", value));
    };
    await folder.write("a.yaml", "");
    await seen("1");
    await writeInPlace(configMap("a", "2").slice(0, -2));
    expect(valuesOf(await seen("2"))).to.deep.equal({ a: "1", b: "1", other: "2" });
    await writeInPlace(`${configMap("a", "2")}---\n${configMap("b", "2")}`);
    await source.until(has("b", "2"));
  });

  it("an object that moves to another file is used there at once", async () => {
    await folder.write("a.yaml", `${configMap("a")}---\n${configMap("b")}`);
    const source = await folder.follow({ times: forEver });
    await writeInPlace(configMap("a"));
    await writeInPlace(configMap("b", "2"), "b.yaml");
    const state = await source.until(has("b", "2"));
    expect(problemsOf(folder, state)).to.deep.equal([]);
  });

  it("a correction of an invalid object is used at once", async () => {
    const authorization = (name: string): string =>
      [
        "apiVersion: gateway.svc-labs.dev/v1alpha1",
        "kind: SvcExternalAuth",
        `metadata: {${name}}`,
        "spec: {protocol: HTTP, backendRef: {name: auth, port: 80}, targetRefs: [{name: gateway}]}",
        "",
      ].join("\n");
    await folder.write("a.yaml", authorization(""));
    const source = await folder.follow({ times: forEver });
    expect(source.latest().problems).to.have.length(1);
    await writeInPlace(authorization("name: auth"));
    await source.until(({ problems }) => problems.length === 0);
  });
});
