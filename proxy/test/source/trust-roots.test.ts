import { mkdtemp, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { createTrustRoots } from "@svc-gateway/proxy/source/trust-roots.ts";

const certificate = (text: string): string =>
  `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;

describe("trust roots", () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-trust-"));
    path = join(folder, "ca.crt");
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const read = async (roots: ReturnType<typeof createTrustRoots>): Promise<string> => {
    const result = await roots.read();
    return result.ok ? result.value : result.error.message;
  };

  it("the trust roots are the file's current content and the roots of the last certificate", async () => {
    const roots = createTrustRoots(path);
    await writeFile(path, certificate("one"));
    expect(await read(roots)).to.contain("one");
    await writeFile(path, certificate("two"));
    expect(await read(roots))
      .to.contain("two")
      .and.not.contain("one");
    roots.learn(certificate("three"));
    expect(await read(roots))
      .to.contain("two")
      .and.contain("three");
    roots.learn(certificate("four"));
    expect(await read(roots))
      .to.contain("four")
      .and.not.contain("three");
  });

  it("the trust roots of the last read are used while the file is missing or empty", async () => {
    const roots = createTrustRoots(path);
    await writeFile(path, certificate("one"));
    await roots.read();
    await unlink(path);
    expect(await read(roots)).to.contain("one");
    await writeFile(path, "");
    expect(await read(roots)).to.contain("one");
  });

  it("a trust bundle that was never readable, is without certificates or too large is an error", async () => {
    const roots = createTrustRoots(path);
    expect(await read(roots)).to.equal(`the trust bundle ${path} cannot be read: ENOENT`);
    await writeFile(path, "nothing");
    expect(await read(roots)).to.equal(`the trust bundle ${path} contains no PEM certificate`);
    await writeFile(path, certificate("x".repeat(300_000)));
    expect(await read(roots)).to.equal(`the trust bundle ${path} is larger than 256 KiB`);
  });
});
