import { expect } from "chai";
import { createFolderLoader, type LoadOutcome } from "../../../src/sources/files/loader.ts";
import { folderLimits } from "../../../src/sources/files/limits.ts";
import { listFolder } from "../../../src/sources/files/listing.ts";
import { configMap, createTestFolder, valuesOf, type TestFolder } from "./folder.ts";

const many = (...names: readonly string[]): string => names.map((name) => configMap(name)).join("---\n");

describe("a large change, which is read in turns", () => {
  let folder: TestFolder;
  let load: (turnMs?: number) => Promise<LoadOutcome>;
  beforeEach(async () => {
    folder = await createTestFolder();
    const loader = createFolderLoader(folder.path, folderLimits);
    load = async (turnMs) => {
      const listing = await listFolder(folder.path, folderLimits);
      if (!listing.ok) throw new Error(listing.error.message);
      const loaded = await loader.load(listing.value, {
        isLastTry: true,
        ...(turnMs !== undefined && { turnMs }),
      });
      if (!loaded.ok) throw new Error(loaded.error);
      return loaded.value;
    };
    await folder.write("known.yaml", configMap("known"));
    await load();
  });
  afterEach(() => folder.remove());

  /** Reads the whole folder, one document in each turn. Returns the number of turns and the values. */
  const readAll = async (): Promise<{ readonly turns: number; readonly values: unknown }> => {
    for (let turns = 1; ; turns++) {
      const { type, state } = await load(0);
      if (type === "read") return { turns, values: valuesOf(state) };
      expect(state).to.equal(undefined);
    }
  };

  it("a large change is applied as a whole at the end of its last turn", async () => {
    await folder.write("b.yaml", many("one", "two", "three"));
    await folder.write("c.yaml", many("four"));
    expect(await readAll()).to.deep.equal({
      turns: 4,
      values: { known: "1", one: "1", two: "1", three: "1", four: "1" },
    });
  });

  it("an edit of a known file is applied before a large change that is still being read", async () => {
    await folder.write("b.yaml", many("one", "two", "three"));
    expect((await load(0)).state).to.equal(undefined);
    await folder.write("known.yaml", configMap("known", "2"));
    const { type, state } = await load(0);
    expect([type, state && valuesOf(state)]).to.deep.equal(["reading", { known: "2" }]);
    expect((await readAll()).values).to.deep.equal({ known: "2", one: "1", two: "1", three: "1" });
  });

  it("a file that loses an object waits for the large change, since the object may move to another file", async () => {
    await folder.write("known.yaml", many("known", "moved"));
    await load();
    await folder.write("b.yaml", many("one", "two", "moved"));
    await load(0);
    await folder.write("known.yaml", configMap("known", "2"));
    expect((await readAll()).values).to.deep.equal({ known: "2", one: "1", two: "1", moved: "1" });
  });

  it("files that are new or changed together with a large change are applied with it", async () => {
    await folder.write("known.yaml", configMap("known", "2"));
    await folder.write("b.yaml", many("one", "two", "three"));
    await load(0);
    await folder.write("new.yaml", many("new"));
    await folder.write("known.yaml", configMap("known", "3"));
    expect((await readAll()).values).to.deep.equal({ known: "3", one: "1", two: "1", three: "1", new: "1" });
  });

  it("a file of a large change that changes meanwhile is read again", async () => {
    await folder.write("b.yaml", many("one", "two", "three"));
    await load(0);
    await folder.write("b.yaml", many("one", "four"));
    expect((await readAll()).values).to.deep.equal({ known: "1", one: "1", four: "1" });
  });

  it("a large change makes progress even if other files change in every turn", async () => {
    await folder.write("b.yaml", many("one", "two", "three"));
    let turns = 0;
    for (let value = 2; (await load(0)).type !== "read"; value++, turns++) {
      await folder.write("known.yaml", configMap("known", String(value)));
    }
    expect(turns).to.be.below(4);
  });
});
