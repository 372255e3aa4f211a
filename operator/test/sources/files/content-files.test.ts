import { expect } from "chai";
import { mkdir, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadFolder } from "../../../src/sources/files/file-source.ts";
import type { FolderState } from "../../../src/sources/files/folder-state.ts";
import { createTestFolder, type TestFolder } from "./folder.ts";

/** A Secret, or a ConfigMap, with the content of files. */
const manifest = (files: Readonly<Record<string, string>>, kind = "Secret"): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind,
    metadata: {
      name: "web",
      annotations: Object.fromEntries(
        Object.entries(files).map(([key, file]) => [`files.svc-labs.dev/${key}`, file]),
      ),
    },
    ...(kind === "Secret" ? { type: "kubernetes.io/tls" } : {}),
  });

const secretIn = ({ world }: FolderState): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(world.Secret[0]?.data ?? {}).map(([key, value]) => [
      key,
      Buffer.from(value, "base64").toString(),
    ]),
  );

const messagesOf = ({ problems }: FolderState): readonly string[] => problems.map(({ message }) => message);

describe("content in files", () => {
  let folder: TestFolder;
  beforeEach(async () => {
    folder = await createTestFolder();
  });
  afterEach(() => folder.remove());

  const load = async (): Promise<FolderState> => {
    const loaded = await loadFolder(folder.path);
    if (!loaded.ok) throw new Error(loaded.error.message);
    return loaded.value;
  };

  it("a Secret and a ConfigMap have the content of files beside their manifest", async () => {
    await folder.write("shop/secret.json", manifest({ "tls.crt": "shop.crt", "tls.key": "keys/shop.key" }));
    await folder.write("map.json", manifest({ "ca.crt": "ca.crt" }, "ConfigMap"));
    await folder.write("shop/shop.crt", "certificate");
    await folder.write("shop/keys/shop.key", "key");
    await folder.write("ca.crt", "authority");
    const state = await load();
    expect(messagesOf(state)).to.deep.equal([]);
    expect(secretIn(state)).to.deep.equal({ "tls.crt": "certificate", "tls.key": "key" });
    expect(state.world.ConfigMap[0]?.data).to.deep.equal({ "ca.crt": "authority" });
  });

  it("a file that does not exist is a problem at its manifest, and the object has the other keys", async () => {
    await folder.write("secret.json", manifest({ "tls.crt": "shop.crt", "tls.key": "shop.key" }));
    await folder.write("shop.crt", "certificate");
    const state = await load();
    expect(state.problems).to.deep.equal([
      {
        file: join(folder.path, "secret.json"),
        line: 1,
        column: 1,
        severity: "error",
        reason: "InvalidObject",
        manifest: { line: 1, column: 1 },
        object: { kind: "Secret", namespace: "default", name: "web" },
        message:
          'metadata.annotations[files.svc-labs.dev/tls.key]: "shop.key": the file does not exist; Secret default/web has no tls.key',
      },
    ]);
    expect(secretIn(state)).to.deep.equal({ "tls.crt": "certificate" });
  });

  for (const path of ["../other.key", "/etc/hostname", "keys/../../x", "a\\b", ""]) {
    it(`the path ${JSON.stringify(path)} is refused: manifests read no other files of the machine`, async () => {
      await folder.write("secret.json", manifest({ "tls.key": path }));
      const state = await load();
      expect(messagesOf(state).join()).to.include('expected a relative path without ".."');
      expect(secretIn(state)).to.deep.equal({});
    });
  }

  it("a folder, a large file and a ConfigMap that is not text are problems", async () => {
    await mkdir(join(folder.path, "folder"));
    await writeFile(join(folder.path, "large"), Buffer.alloc(1024 * 1024 + 1));
    await writeFile(join(folder.path, "binary"), Buffer.from([0xff]));
    await folder.write("map.json", manifest({ a: "folder", b: "large", c: "binary" }, "ConfigMap"));
    const state = await load();
    expect(messagesOf(state).map((message) => message.split(": ").at(-1))).to.deep.equal([
      '"folder": it is not a file; ConfigMap default/web has no a'.split(": ").at(-1),
      "the file is larger than 1 MiB; ConfigMap default/web has no b",
      "the file is not UTF-8 text; ConfigMap default/web has no c",
    ]);
  });

  it("a changed file is followed, also behind a symbolic link out of the folder", async () => {
    const outside = await createTestFolder();
    try {
      await outside.write("archive/1.crt", "first");
      await outside.write("archive/2.crt", "second");
      await symlink(join(outside.path, "archive/1.crt"), join(outside.path, "live.crt"));
      await symlink(join(outside.path, "live.crt"), join(folder.path, "tls.crt"));
      await folder.write("secret.json", manifest({ "tls.crt": "tls.crt", "tls.key": "tls.key" }));
      await folder.write("tls.key", "key");
      const source = await folder.follow();
      expect(secretIn(source.latest())).to.deep.equal({ "tls.crt": "first", "tls.key": "key" });
      await folder.write("tls.key", "other key");
      await source.until((state) => secretIn(state)["tls.key"] === "other key");
      await unlink(join(outside.path, "live.crt"));
      await symlink(join(outside.path, "archive/2.crt"), join(outside.path, "live.crt"));
      await source.until((state) => secretIn(state)["tls.crt"] === "second");
    } finally {
      await outside.remove();
    }
  });

  it("the last content of a file that is removed stays, with a problem, until it is there again", async () => {
    await folder.write("secret.json", manifest({ "tls.crt": "tls.crt" }));
    await folder.write("tls.crt", "first");
    const source = await folder.follow();
    await unlink(join(folder.path, "tls.crt"));
    const broken = await source.until(({ problems }) => problems.length > 0);
    expect(messagesOf(broken)).to.deep.equal([
      'metadata.annotations[files.svc-labs.dev/tls.crt]: "tls.crt": the file does not exist; Secret default/web keeps the last tls.crt',
    ]);
    expect(secretIn(broken)).to.deep.equal({ "tls.crt": "first" });
    expect(broken.world.Secret[0]).to.equal(source.states[0]?.world.Secret[0]);
    await folder.write("tls.crt", "second");
    const fixed = await source.until((state) => secretIn(state)["tls.crt"] === "second");
    expect(fixed.problems).to.deep.equal([]);
  });

  it("an object whose files did not change keeps its identity when another manifest changes", async () => {
    await folder.write("secret.json", manifest({ "tls.crt": "tls.crt" }));
    await folder.write("tls.crt", "first");
    const source = await folder.follow();
    const before = source.latest().world.Secret;
    await folder.write("other.json", manifest({}, "ConfigMap"));
    const after = await source.until(({ world }) => world.ConfigMap.length > 0);
    expect(after.world.Secret).to.equal(before);
  });
});
