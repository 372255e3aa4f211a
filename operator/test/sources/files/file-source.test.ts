import { expect } from "chai";
import { rmSync } from "node:fs";
import { mkdir, rename, rm, symlink, truncate, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FolderState } from "../../../src/sources/files/folder-state.ts";
import { folderLimits } from "../../../src/sources/files/limits.ts";
import { settleTimes } from "../../../src/sources/files/settling.ts";
import { configMap, createTestFolder, problemsOf, valuesOf, type TestFolder } from "./folder.ts";

describe("startFileSource", () => {
  let folder: TestFolder;
  beforeEach(async () => {
    folder = await createTestFolder();
  });
  afterEach(() => folder.remove());

  const at = (file: string): string => join(folder.path, file);
  const has =
    (name: string, value: string | undefined) =>
    (state: FolderState): boolean =>
      valuesOf(state)[name] === value;
  const hasProblem = (state: FolderState): boolean => state.problems.length > 0;
  const hasNoProblem = (state: FolderState): boolean => state.problems.length === 0;

  describe("changes of the folder", () => {
    it("a file that is written in place is followed, and its empty moment is not seen", async () => {
      await folder.write("a.yaml", configMap("a", "1"));
      const times = { ...settleTimes, vanishedQuietMs: 60_000, maxMs: 60_000 };
      const source = await folder.follow({ times });
      expect(valuesOf(source.latest())).to.deep.equal({ a: "1" });
      await writeFile(at("a.yaml"), configMap("a", "2"));
      await source.until(has("a", "2"));
      expect(
        source.states.map((state) => valuesOf(state)["a"]),
        "the moment in which the file was empty is not seen",
      ).not.to.include(undefined);
    });

    it("a file that is renamed over another one, as editors do, is followed", async () => {
      await folder.write("a.yaml", configMap("a", "1"));
      const source = await folder.follow();
      for (const value of ["2", "3", "4"]) {
        await folder.write("a.yaml", configMap("a", value));
        await source.until(has("a", value));
      }
    });

    it("new files, new folders and files in them are followed", async () => {
      const source = await folder.follow();
      await folder.write("a.yaml", configMap("a"));
      await source.until(has("a", "1"));
      await folder.write("sub/deeper/b.yaml", configMap("b"));
      await source.until(has("b", "1"));
      await folder.write("sub/deeper/b.yaml", configMap("b", "2"));
      await source.until(has("b", "2"));
    });

    it("the swap of a link, as a mounted ConfigMap is updated, is followed without a mixed state", async () => {
      for (const version of ["1", "2"]) {
        await folder.write(`..v${version}/a.yaml`, configMap("a", version));
        await folder.write(`..v${version}/b.yaml`, configMap("b", version));
      }
      await symlink("..v1", at("..data"));
      await symlink("..data/a.yaml", at("a.yaml"));
      await symlink("..data/b.yaml", at("b.yaml"));
      const source = await folder.follow();
      expect(valuesOf(source.latest())).to.deep.equal({ a: "1", b: "1" });
      await symlink("..v2", at("..data_tmp"));
      await rename(at("..data_tmp"), at("..data"));
      await rm(at("..v1"), { recursive: true });
      await source.until(has("a", "2"));
      for (const state of source.states) {
        const { a, b } = valuesOf(state);
        expect(a, "both versions are never mixed").to.equal(b);
      }
    });

    it("a linked file outside the folder is followed", async () => {
      const outside = await createTestFolder();
      try {
        await outside.write("a.yaml", configMap("a", "1"));
        await symlink(join(outside.path, "a.yaml"), at("a.yaml"));
        const source = await folder.follow();
        await outside.write("a.yaml", configMap("a", "2"));
        await source.until(has("a", "2"));
      } finally {
        await outside.remove();
      }
    });

    it("the objects of a deleted file are removed", async () => {
      await folder.write("a.yaml", configMap("a"));
      await folder.write("b.yaml", configMap("b"));
      const source = await folder.follow();
      await unlink(at("a.yaml"));
      const state = await source.until(has("a", undefined));
      expect(valuesOf(state)).to.deep.equal({ b: "1" });
      expect(state.problems).to.deep.equal([]);
    });

    it("a subfolder that is deleted and created again is followed", async () => {
      await folder.write("sub/a.yaml", configMap("a", "1"));
      const source = await folder.follow();
      await rm(at("sub"), { recursive: true });
      await source.until(has("a", undefined));
      await folder.write("sub/a.yaml", configMap("a", "2"));
      await source.until(has("a", "2"));
      await folder.write("sub/a.yaml", configMap("a", "3"));
      await source.until(has("a", "3"));
    });

    it("a deleted folder is followed when it is created again, and its objects stay in between", async () => {
      await folder.write("a.yaml", configMap("a", "1"));
      await folder.write("b.yaml", "a: [\n");
      const source = await folder.follow();
      const [inFile] = source.latest().problems;
      // At once: without its files it would look like an emptied folder.
      rmSync(folder.path, { recursive: true });
      const gone = await source.until(({ problems }) => problems.length > 1);
      expect(gone.problems).to.deep.equal([
        {
          severity: "error",
          reason: "Unreadable",
          file: folder.path,
          message: "the folder does not exist; its last valid state is used",
        },
        inFile,
      ]);
      expect(valuesOf(gone)).to.deep.equal({ a: "1" });
      await mkdir(folder.path);
      await folder.write("a.yaml", configMap("a", "2"));
      await source.until(has("a", "2"));
      await folder.write("a.yaml", configMap("a", "3"));
      const back = await source.until(has("a", "3"));
      expect(back.problems).to.deep.equal([]);
    });
  });

  describe("the last valid state", () => {
    it("a file that cannot be parsed keeps the objects of its last valid state", async () => {
      await folder.write("a.yaml", `${configMap("a", "1")}---\n${configMap("b", "1")}`);
      await folder.write("c.yaml", configMap("c", "1"));
      const source = await folder.follow();
      await folder.write("a.yaml", `${configMap("a", "2")}---\na: [\n`);
      const broken = await source.until(hasProblem);
      expect(valuesOf(broken), "the whole file stays as it was").to.deep.equal({ a: "1", b: "1", c: "1" });
      expect(problemsOf(folder, broken)[0]).to.match(/^a\.yaml:(8|9):\d+: .*; its last valid state is used$/);
      await folder.write("c.yaml", configMap("c", "2"));
      const other = await source.until(has("c", "2"));
      expect(valuesOf(other), "other files are followed on").to.deep.equal({ a: "1", b: "1", c: "2" });
      await folder.write("a.yaml", configMap("a", "3"));
      const fixed = await source.until(has("a", "3"));
      expect(valuesOf(fixed)).to.deep.equal({ a: "3", c: "2" });
      expect(fixed.problems).to.deep.equal([]);
    });

    it("an invalid object keeps its last valid version while others in its file are updated", async () => {
      await folder.write("a.yaml", `${configMap("a", "1")}---\n${configMap("b", "1")}`);
      const source = await folder.follow();
      await folder.write(
        "a.yaml",
        `${configMap("a", "2")}---\n${configMap("b", "2")}extra: 1\nimmutable: 7\n`,
      );
      const state = await source.until(has("a", "2"));
      expect(valuesOf(state)).to.deep.equal({ a: "2", b: "1" });
      expect(problemsOf(folder, state).at(-1)).to.equal(
        "a.yaml:15:1: immutable: must be true or false, found 7; its last valid version is used",
      );
      await folder.write("a.yaml", `${configMap("a", "2")}---\n${configMap("b", "3")}`);
      expect((await source.until(has("b", "3"))).problems).to.deep.equal([]);
    });

    it("an object that lost its name keeps its last valid version", async () => {
      await folder.write("a.yaml", `${configMap("a", "1")}---\n${configMap("b", "1")}`);
      const source = await folder.follow();
      await folder.write(
        "a.yaml",
        `${configMap("a", "2")}---\n${configMap("b").replace("name: b", "labels: {}")}`,
      );
      const state = await source.until(hasProblem);
      expect(valuesOf(state)).to.deep.equal({ a: "2", b: "1" });
      expect(problemsOf(folder, state)[0]).to.match(
        /metadata\.name: is required; objects that are missing from the file since then keep their last valid versions$/,
      );
    });

    it("a manifest without a name in a file that loses no object is only left out", async () => {
      await folder.write("a.yaml", configMap("a", "1"));
      const source = await folder.follow();
      await folder.write(
        "a.yaml",
        `${configMap("a", "2")}---\n${configMap("b").replace("name: b", "labels: {}")}`,
      );
      expect(problemsOf(folder, await source.until(hasProblem))[0]).to.match(
        /metadata\.name: is required; the object is not used$/,
      );
    });

    it("a kept object is replaced as soon as another file has it", async () => {
      await folder.write("a.yaml", configMap("a", "1"));
      const source = await folder.follow();
      await folder.write("a.yaml", "a: [\n");
      await source.until(hasProblem);
      await folder.write("b.yaml", configMap("a", "2"));
      const state = await source.until(has("a", "2"));
      expect(problemsOf(folder, state), "and that is no duplicate").to.have.length(1);
    });

    it("nothing is kept of a broken file that is deleted", async () => {
      await folder.write("a.yaml", configMap("a", "1"));
      const source = await folder.follow();
      await folder.write("a.yaml", "a: [\n");
      await source.until(hasProblem);
      await unlink(at("a.yaml"));
      expect(valuesOf(await source.until(hasNoProblem))).to.deep.equal({});
    });

    it("a subfolder that cannot be read to its end keeps the objects of its files, and the problem says so", async () => {
      await folder.write("sub/a.yaml", configMap("a", "1"));
      const source = await folder.follow({ limits: { ...folderLimits, maxEntries: 3 } });
      for (const name of ["b", "c", "d"]) await folder.write(`sub/${name}.txt`, "");
      const state = await source.until(hasProblem);
      expect(valuesOf(state)).to.deep.equal({ a: "1" });
      expect(problemsOf(folder, state)).to.deep.equal([
        "sub: holds more than 3 entries; the rest is not read; its last valid state is used",
      ]);
    });

    it("a file that grew beyond the limit and one behind a broken link keep their last state", async () => {
      await folder.write("a.yaml", configMap("a", "1"));
      await folder.write(".b", configMap("b", "1"));
      await symlink(".b", at("b.yaml"));
      const source = await folder.follow({ limits: { ...folderLimits, maxFileBytes: 1000 } });
      await truncate(at("a.yaml"), 1001);
      await unlink(at(".b"));
      const state = await source.until(({ problems }) => problems.length === 2);
      expect(valuesOf(state)).to.deep.equal({ a: "1", b: "1" });
      for (const { message } of state.problems) expect(message).to.match(/; its last valid state is used$/);
      await folder.write("a.yaml", configMap("a", "2"));
      await folder.write(".b", configMap("b", "2"));
      expect(valuesOf(await source.until(hasNoProblem))).to.deep.equal({ a: "2", b: "2" });
    });
  });

  it("the second of two duplicates is used when the first is deleted", async () => {
    await folder.write("a.yaml", configMap("one", "first"));
    await folder.write("b.yaml", configMap("one", "second"));
    const source = await folder.follow();
    expect(valuesOf(source.latest())).to.deep.equal({ one: "first" });
    await unlink(at("a.yaml"));
    const state = await source.until(has("one", "second"));
    expect(state.problems).to.deep.equal([]);
  });

  describe("the identity of objects", () => {
    it("unchanged objects and lists keep their identity", async () => {
      await folder.write("a.yaml", `${configMap("a", "1")}---\n${configMap("b", "1")}`);
      await folder.write("c.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: c}\n");
      const source = await folder.follow();
      const before = source.latest().world;
      await folder.write("a.yaml", `# moved down\n${configMap("a", "2")}---\n${configMap("b", "1")}`);
      const after = (await source.until(has("a", "2"))).world;
      expect(after.ConfigMap[0]).not.to.equal(before.ConfigMap[0]);
      expect(after.ConfigMap[1]).to.equal(before.ConfigMap[1]);
      expect(after.Namespace).to.equal(before.Namespace);
    });

    it("an object whose text changed but not its content keeps its identity", async () => {
      await folder.write("a.yaml", configMap("a", "1"));
      const source = await folder.follow();
      const { world } = source.latest();
      await folder.write("a.yaml", `# a comment\n${configMap("a", "1")}`);
      const state = await source.until(({ objects }) => [...objects.values()][0]?.place.line === 2);
      expect(state.world).to.equal(world);
    });
  });

  it("no state is reported while no manifest changes", async () => {
    await folder.write("a.yaml", configMap("a", "1"));
    const source = await folder.follow();
    await folder.write("notes.txt", "text");
    await folder.write(".hidden.yaml", configMap("hidden"));
    await folder.write("b.yaml", configMap("b"));
    await source.until(has("b", "1"));
    expect(source.states).to.have.length(2);
  });
});
