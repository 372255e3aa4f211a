import { expect } from "chai";
import { execFile } from "node:child_process";
import { chmod, mkdir, symlink, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { loadFolder } from "../../../src/sources/files/file-source.ts";
import type { FolderState } from "../../../src/sources/files/folder-state.ts";
import { folderLimits, type FolderLimits } from "../../../src/sources/files/limits.ts";
import { configMap, createTestFolder, problemsOf, valuesOf, type TestFolder } from "./folder.ts";

describe("loadFolder", () => {
  let folder: TestFolder;
  beforeEach(async () => {
    folder = await createTestFolder();
  });
  afterEach(() => folder.remove());

  const load = async (limits?: FolderLimits): Promise<FolderState> => {
    const loaded = await loadFolder(folder.path, limits);
    if (!loaded.ok) throw new Error(loaded.error.message);
    return loaded.value;
  };

  it("YAML and JSON files in the folder and its subfolders are read, and no others", async () => {
    await folder.write("a.yaml", configMap("a"));
    await folder.write("b.yml", configMap("b"));
    await folder.write(
      "sub/deeper/c.json",
      JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } }),
    );
    await folder.write("notes.txt", configMap("text"));
    await folder.write(".hidden.yaml", configMap("hidden"));
    await folder.write("..data/e.yaml", configMap("swapped"));
    const state = await load();
    expect(Object.keys(valuesOf(state))).to.deep.equal(["a", "b", "c"]);
    expect(state.problems).to.deep.equal([]);
  });

  it("all documents of a file are read", async () => {
    await folder.write(
      "all.yaml",
      [configMap("a"), "# nothing\n", configMap("b"), configMap("c")].join("---\n"),
    );
    expect(Object.keys(valuesOf(await load()))).to.deep.equal(["a", "b", "c"]);
  });

  it("each object has its file, line and column, also in later documents", async () => {
    await folder.write("sub/all.yaml", `${configMap("a")}---\n${configMap("b")}`);
    const places = [...(await load()).objects.values()].map(({ place }) => place);
    expect(places).to.deep.equal([
      { file: join(folder.path, "sub/all.yaml"), line: 1, column: 1 },
      { file: join(folder.path, "sub/all.yaml"), line: 8, column: 1 },
    ]);
  });

  it("the first of several manifests of one object is used, and the problem names both places", async () => {
    await folder.write("b.yaml", `${configMap("one", "second")}---\n${configMap("two")}`);
    await folder.write("a.yaml", `# first\n${configMap("one", "first")}`);
    const state = await load();
    expect(valuesOf(state)).to.deep.equal({ one: "first", two: "1" });
    expect(problemsOf(folder, state)).to.deep.equal([
      "b.yaml:1:1: ConfigMap default/one is already defined at a.yaml:2:1, which is used instead",
    ]);
  });

  it("the readable documents of a file without a valid state are used", async () => {
    await folder.write("a.yaml", `${configMap("a")}---\na: [\n---\n${configMap("b")}`);
    const state = await load();
    expect(Object.keys(valuesOf(state))).to.deep.equal(["a", "b"]);
    expect(problemsOf(folder, state)).to.have.length(1);
    expect(problemsOf(folder, state)[0]).to.match(/^a\.yaml:(8|9):\d+: /);
  });

  it("an alias bomb is rejected without harm to other files and documents", async () => {
    const bomb = Array.from({ length: 12 }, (_, level) => {
      const names = Array.from({ length: 10 }, () => (level === 0 ? "lol" : `*l${level - 1}`));
      return `l${level}: &l${level} [${names.join(", ")}]\n`;
    }).join("");
    await folder.write("a.yaml", bomb);
    await folder.write("b.yaml", configMap("b"));
    const state = await load();
    expect(Object.keys(valuesOf(state))).to.deep.equal(["b"]);
    expect(problemsOf(folder, state)[0]).to.match(
      /^a\.yaml:7:\d+: the document has more than 2000000 values/,
    );
  });

  it("every file is read once, regardless of links to it", async () => {
    await folder.write("real/a.yaml", configMap("a"));
    await symlink("real/a.yaml", join(folder.path, "link.yaml"));
    await symlink("real", join(folder.path, "again"));
    await symlink(".", join(folder.path, "real", "loop"));
    await symlink(folder.path, join(folder.path, "whole"));
    const state = await load();
    expect(Object.keys(valuesOf(state))).to.deep.equal(["a"]);
    expect(state.problems).to.deep.equal([]);
  });

  it("broken and circular links are reported", async () => {
    await symlink("nowhere", join(folder.path, "a.yaml"));
    await symlink("b.yaml", join(folder.path, "b.yaml"));
    expect(problemsOf(folder, await load())).to.have.members([
      "a.yaml: is a symbolic link to a file that does not exist",
      "b.yaml: the file is a symbolic link that leads back to itself",
    ]);
  });

  it("a pipe is reported and not waited for", async () => {
    await promisify(execFile)("mkfifo", [join(folder.path, "a.yaml")]);
    await folder.write("b.yaml", configMap("b"));
    const state = await load();
    expect(Object.keys(valuesOf(state))).to.deep.equal(["b"]);
    expect(problemsOf(folder, state)).to.deep.equal([
      "a.yaml: is neither a file nor a folder and is not read",
    ]);
  });

  it("a file that is not UTF-8 text is reported", async () => {
    await folder.write("a.yaml", "");
    await folder.write("b.yaml", "\uFEFF" + configMap("b"));
    await promisify(execFile)("sh", ["-c", `printf 'a: \\377\\376' > '${join(folder.path, "c.yaml")}'`]);
    const state = await load();
    expect(Object.keys(valuesOf(state))).to.deep.equal(["b"]);
    expect(problemsOf(folder, state)).to.deep.equal(["c.yaml: the file is not UTF-8 text"]);
  });

  describe("limits", () => {
    const small = (change: Partial<FolderLimits>): FolderLimits => ({ ...folderLimits, ...change });

    it("a file above the size limit is not read", async () => {
      await folder.write("a.yaml", configMap("a"));
      await truncate(join(folder.path, "a.yaml"), folderLimits.maxFileBytes + 1);
      await folder.write("b.yaml", configMap("b"));
      const state = await load();
      expect(Object.keys(valuesOf(state))).to.deep.equal(["b"]);
      expect(problemsOf(folder, state)).to.deep.equal([
        "a.yaml: the file is not read: it is larger than 16 MiB",
      ]);
    });

    it("files beyond the limit of the total size are not read", async () => {
      for (const name of ["a", "b", "c"]) await folder.write(`${name}.yaml`, configMap(name));
      const state = await load(small({ maxTotalBytes: 2 * configMap("a").length }));
      expect(Object.keys(valuesOf(state))).to.deep.equal(["a", "b"]);
      expect(problemsOf(folder, state)).to.have.length(1);
      expect(problemsOf(folder, state)[0]).to.match(/^c\.yaml: the file is not read: up to here/);
    });

    it("files beyond the maximum number are not read", async () => {
      for (const name of ["a", "b", "c"]) await folder.write(`${name}.yaml`, configMap(name));
      const state = await load(small({ maxFiles: 2 }));
      expect(Object.keys(valuesOf(state))).to.deep.equal(["a", "b"]);
      expect(problemsOf(folder, state)).to.deep.equal([
        "c.yaml: is not read: the folder holds more than 2 manifest files",
      ]);
    });

    it("folders beyond the maximum depth are not read", async () => {
      await folder.write("1/2/a.yaml", configMap("a"));
      await folder.write("1/2/3/b.yaml", configMap("b"));
      const state = await load(small({ maxFolderDepth: 2 }));
      expect(Object.keys(valuesOf(state))).to.deep.equal(["a"]);
      expect(problemsOf(folder, state)).to.deep.equal(["1/2/3: is not read: it is more than 2 folders deep"]);
    });

    it("entries beyond the maximum number are not read", async () => {
      for (let index = 0; index < 20; index++) await folder.write(`${index}.txt`, "");
      const state = await load(small({ maxEntries: 10 }));
      expect(state.problems).to.have.length(1);
      expect(state.problems[0]?.message).to.equal("holds more than 10 entries; the rest is not read");
    });
  });

  describe("a folder that cannot be read", () => {
    it("a folder that does not exist is a problem", async () => {
      expect(await loadFolder(join(folder.path, "missing"))).to.deep.equal({
        ok: false,
        error: {
          severity: "error",
          reason: "Unreadable",
          file: join(folder.path, "missing"),
          message: "the folder does not exist",
        },
      });
    });

    it("a file in place of the folder is a problem", async () => {
      await folder.write("a.yaml", configMap("a"));
      const loaded = await loadFolder(join(folder.path, "a.yaml"));
      expect(loaded).to.have.nested.property("error.message", "the path is not a folder");
    });

    it("a folder without read permission is a problem", async function () {
      if (process.getuid?.() === 0) this.skip(); // root may read everything
      await mkdir(join(folder.path, "closed"));
      await chmod(join(folder.path, "closed"), 0);
      const loaded = await loadFolder(join(folder.path, "closed"));
      expect(loaded).to.have.nested.property("error.message", "the folder cannot be read: permission denied");
    });
  });

  it("an empty folder is an empty world", async () => {
    const state = await load();
    expect(state.objects.size).to.equal(0);
    expect(folder.path.startsWith(tmpdir())).to.equal(true);
  });
});
